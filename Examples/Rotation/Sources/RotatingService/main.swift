// SPDX-License-Identifier: Apache-2.0

// A service whose database password, TLS key and signing key change while it answers requests:
//
//   RotatingService DIRECTORY DATABASE [PORT]
//
// The directory has the secrets, and DATABASE is libpq's connection string without a user. GET / signs a client in,
// and any other request needs the token of the last response.
import Foundation
import Keyring
import Logging
import NIOCertificateReloading
import NIOHTTP1
import NIOSSL
import ServiceLifecycle
import UnixSignals

struct Settings { @Credentials("database") var database: Credential? }

guard CommandLine.arguments.count > 2 else {
  print("usage: RotatingService DIRECTORY DATABASE [PORT]")
  exit(2)
}
let service = "org.example.RotatingService"
SecureStorageDefaults.service = service
// Requests are answered from memory, and the cache follows the directory.
SecureStorageDefaults.storage = CredentialsDirectoryStorage(
  service: service, directory: CommandLine.arguments[1]
).cached()

let logger = Logger(label: service)
let settings = Settings()
let signer = TokenSigner()
let pool = PostgresPool(address: CommandLine.arguments[2]) { try await settings.$database.read() }
let certificates = try await StorageCertificateReloader()
let follower = ClosureService {
  for await _ in try await settings.$database.changes.cancelOnGracefulShutdown() {
    do { try await pool.closeOutdated() } catch { logger.error("\(error)") }
  }
}

let server = TLSServer(
  context: try NIOSSLContext(
    configuration: .makeServerConfiguration(certificateReloader: certificates)),
  port: CommandLine.arguments.dropFirst(3).first.flatMap(Int.init) ?? 0, logger: logger
) { request in
  do {
    if request.uri != "/" {
      let token = request.headers.first(name: "authorization")?.dropFirst("Bearer ".count)
      guard try await signer.user(of: String(token ?? "")) != nil else {
        return (.unauthorized, "The token isn't accepted.\n")
      }
    }
    let user = try await pool.value(of: "SELECT current_user")
    return (.ok, "\(user)\n\(try await signer.token(for: "client"))\n")
  } catch {
    return (.internalServerError, "\(error)\n")
  }
}
let group = ServiceGroup(
  services: [certificates, follower, server], gracefulShutdownSignals: [.sigterm],
  logger: logger)
try await group.run()
