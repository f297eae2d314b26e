// SPDX-License-Identifier: Apache-2.0

import Keyring
import NIOPosix
import Synchronization

/// Connections that are used again as long as they have the current credential, which a closure returns.
final class PostgresPool: Sendable {
  private let address: String
  private let credential: @Sendable () async throws -> Credential?
  private let mostIdle = 4
  private let idle = Mutex<[PostgresConnection]>([])

  init(address: String, credential: @escaping @Sendable () async throws -> Credential?) {
    (self.address, self.credential) = (address, credential)
  }

  /// Returns the first value of a query's first row.
  func value(of query: String) async throws -> String {
    let credential = try await current()
    let unused = idle.withLock { $0.popLast() }
    // libpq blocks.
    let (connection, value) = try await NIOThreadPool.singleton.runIfActive { [address] in
      let connection = try unused ?? PostgresConnection(to: address, as: credential)
      return (connection, try connection.value(of: query))
    }
    idle.withLock { if $0.count < mostIdle { $0.append(connection) } }
    // Also one that was in use while the credential changed
    try await closeOutdated()
    return value
  }

  /// Closes the idle connections of an earlier credential.
  func closeOutdated() async throws {
    let credential = try await current()
    idle.withLock { $0.removeAll { $0.credential != credential } }
  }

  private func current() async throws -> Credential {
    guard let credential = try await credential() else {
      throw PostgresError(description: "The storage has no credential of the database")
    }
    return credential
  }
}
