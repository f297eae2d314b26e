// SPDX-License-Identifier: Apache-2.0

import CRotationPostgres
import Keyring

struct PostgresError: Error, CustomStringConvertible {
  let description: String
}

/// A connection of libpq, which one thread at a time uses.
final class PostgresConnection: @unchecked Sendable {
  let credential: Credential
  private let connection: OpaquePointer

  /// Connects, and blocks meanwhile.
  init(to address: String, as credential: Credential) throws {
    // It takes a connection string for the name of a database.
    guard
      let connection = PQsetdbLogin(
        nil, nil, nil, nil, address, credential.login, credential.password)
    else { throw PostgresError(description: "libpq has no memory") }
    (self.credential, self.connection) = (credential, connection)
    // From here on, the object closes the connection.
    if PQstatus(connection) != CONNECTION_OK { throw failure }
  }

  deinit { PQfinish(connection) }

  /// Returns the first value of a query's first row, and blocks meanwhile.
  func value(of query: String) throws -> String {
    let result = PQexec(connection, query)
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_TUPLES_OK, PQntuples(result) > 0,
      let value = PQgetvalue(result, 0, 0)
    else { throw failure }
    return String(cString: value)
  }

  private var failure: PostgresError {
    PostgresError(description: String(cString: PQerrorMessage(connection)))
  }
}
