// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import Logging
import ServiceLifecycle

/// A part of the service that uses the token, and that has to know when the token changes.
struct TokenClient: Service {
  let settings: SecureSettings
  let storage: any ObservableStorage
  let logger: Logger

  func run() async throws {
    let connection = try await logConnection()
    defer { connection.cancel() }
    // Subscribe before the first read, so that no change is missed.
    let changes = try await settings.$apiToken.changes.cancelOnGracefulShutdown()
    // This reads all secrets into the cache. From now on, reads don't wait for the cluster.
    _ = try await SecureProperties(of: settings).readAll()
    await logToken()
    for await _ in changes { await logToken() }
    logger.info("the service ends")
  }

  /// Logs when changes go unnoticed because the storage can't be read, and when they're noticed again.
  private func logConnection() async throws -> StorageSubscription {
    try await storage.observeWithoutBlocking(.key(settings.$apiToken.key)) { [logger] event in
      switch event {
      case .interrupted: logger.warning("the storage can't be read, so changes go unnoticed")
      case .resumed: logger.info("changes are noticed again")
      default: break
      }
    }
  }

  private func logToken() async {
    do {
      // A log shows which token is in use by the time of its change, and never has a part of the token. The time
      // is read first, so the token in use is at least as new.
      let changed = try await settings.$apiToken.dates()?.modified
      guard try await settings.$apiToken.read() != nil, let changed else {
        return logger.warning("there is no token")
      }
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      logger.info("the token in use", metadata: ["changed": "\(changed.formatted(style))"])
    } catch {
      logger.error("the token can't be read: \(error)")
    }
  }
}
