// SPDX-License-Identifier: Apache-2.0

// PostgresNIO 1.33.1: https://github.com/vapor/postgres-nio, Sources/PostgresNIO/Pool/PostgresClient.swift

import Synchronization

package struct PoolClosed: Error {}

package struct PostgresConnection: Sendable {
  // Only in this fixture, for tests.
  package let client: PostgresClient
}

package final class PostgresClient: Sendable {
  package struct Configuration: Sendable {
    package struct TLS: Sendable {
      package static let disable = TLS()
    }

    package var username: String
    package var password: String?

    package init(
      host: String, port: Int = 5432, username: String, password: String?, database: String?,
      tls: TLS
    ) {
      (self.username, self.password) = (username, password)
    }
  }

  // The next two are only in this fixture, for tests.
  package let configuration: Configuration
  /// A stream that ends with the client.
  package let life: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation
  private let (started, start) = AsyncStream<Void>.makeStream()
  private let isClosed = Atomic(false)

  package init(configuration: Configuration) {
    self.configuration = configuration
    (life, end) = AsyncStream.makeStream()
  }

  /// Runs until its task is cancelled, which closes all connections.
  package func run() async {
    await withTaskCancellationHandler {
      start.finish()
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
      end.finish()
    } onCancel: {
      isClosed.store(true, ordering: .releasing)
    }
  }

  package func withConnection<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ closure: (PostgresConnection) async throws -> sending Result
  ) async throws -> sending Result {
    for await _ in started {}
    let result = try await closure(PostgresConnection(client: self))
    if isClosed.load(ordering: .acquiring) { throw PoolClosed() }
    return result
  }
}
