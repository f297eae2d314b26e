// SPDX-License-Identifier: Apache-2.0

// A service for clients that send a key. It's in the file $CREDENTIALS_DIRECTORY/apiKey, which may change.
#if Hummingbird
import Foundation
import Hummingbird
import Keyring
import Logging
import ServiceLifecycle

struct Settings { @Password("apiKey") var apiKey: Secret? }
struct MissingKey: Error {}
let (service, settings) = ("org.example.HummingbirdService", Settings())
SecureStorageDefaults.service = service
// Requests are answered from memory, and the cache follows the file.
SecureStorageDefaults.storage = CredentialsDirectoryStorage(service: service).cached()
let (logger, router) = (Logger(label: service), Router())
router.get("/") { request, _ in
  guard let header = request.headers[.authorization], header.hasPrefix("Bearer "),
    try await settings.$apiKey.read() == Secret(String(header.dropFirst(7)))
  else { throw HTTPError(.unauthorized) }
  return "Welcome\n"
}
let follower = ClosureService {
  for await _ in try await settings.$apiKey.changes.cancelOnGracefulShutdown() {
    logger.info("The key has changed.")
  }
}
let port = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 8080
var app = Application(
  router: router, configuration: .init(address: .hostname(port: port)), services: [follower],
  logger: logger)
app.beforeServerStarts { guard try await settings.$apiKey.exists() else { throw MissingKey() } }
do {
  try await app.runService()
} catch {
  logger.critical("\(error)")
  exit(1)
}
#endif
