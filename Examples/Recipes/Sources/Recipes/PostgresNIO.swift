// SPDX-License-Identifier: Apache-2.0

import Keyring
import PostgresNIO
import Synchronization

/// A client of PostgresNIO for each credential, an older one until its last query.
final class RotatingPostgres: Sendable {
  private final class Running: Sendable {
    let (client, task): (PostgresClient, Task<Void, Never>)
    init(_ client: PostgresClient) { (self.client, task) = (client, Task { await client.run() }) }
    deinit { task.cancel() }
  }
  private let makeClient: @Sendable (Credential) -> PostgresClient
  private let current: Mutex<Running>

  init(as first: Credential, makeClient: @escaping @Sendable (Credential) -> PostgresClient) {
    self.makeClient = makeClient
    current = Mutex(Running(makeClient(first)))
  }

  func connect(as credential: Credential) {
    let new = Running(makeClient(credential))
    current.withLock { $0 = new }
  }

  func withConnection<Result>(
    _ use: (PostgresConnection) async throws -> sending Result
  ) async throws -> sending Result {
    let running = current.withLock { $0 }
    defer { withExtendedLifetime(running) {} }
    return try await running.client.withConnection(use)
  }
}
