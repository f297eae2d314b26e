// SPDX-License-Identifier: Apache-2.0

import Keyring
import Logging
import ServiceLifecycle

/// A part of the service that uses the token, and that has to know when the token changes.
struct TokenClient: Service {
  let settings: SecureSettings
  let logger: Logger

  func run() async throws {
    // Subscribe before the first read, so that no change is missed.
    let changes = try await settings.$apiToken.changes.cancelOnGracefulShutdown()
    // This reads all secrets into the cache. From now on, a property's getter doesn't wait for the cluster.
    _ = try await SecureProperties(of: settings).readAll()
    logToken()
    for await _ in changes { logToken() }
    logger.info("the service ends")
  }

  private func logToken() {
    if let failure = settings.$apiToken.failure {
      logger.error("the token can't be read: \(failure)")
    } else {
      // A log shows which token is in use, but never the token itself.
      let end = settings.apiToken.map { "…\($0.suffix(2))" } ?? "none"
      logger.info("the token in use", metadata: ["token": "\(end)"])
    }
  }
}
