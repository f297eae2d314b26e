// SPDX-License-Identifier: Apache-2.0

import Keyring
import Logging
import ServiceLifecycle

/// A service that hands a secret to a closure at its start and after each change, until a graceful shutdown.
struct SecretFollower<Property: SecureProperty>: Service {
  let property: Property
  let logger: Logger
  let use: @Sendable (Property.Stored) async throws -> Void

  func run() async throws {
    // Subscribe before the first read, so that no change is missed.
    let changes = try await property.changes.cancelOnGracefulShutdown()
    await read()
    for await _ in changes { await read() }
  }

  private func read() async {
    do {
      guard let value = try await property.read() else {
        return logger.warning("The secret is missing.")
      }
      try await use(value)
    } catch {
      logger.error("\(error)")  // The old secret stays in use.
    }
  }
}
