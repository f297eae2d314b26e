// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringEtcd
import KeyringStorage
import Logging
import ServiceLifecycle
import UnixSignals

#if canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A service that runs on every machine of a fleet.
///
///   FleetService serve
///   FleetService initialize
///   FleetService set TOKEN
///
/// The cluster and the keys are in the environment: `FLEET_ENDPOINTS`, separated by commas,
/// `FLEET_NAMESPACE`, `FLEET_KEY_FILE`, `FLEET_AUTHORITIES`, and, if the cluster asks for a certificate,
/// `FLEET_CERTIFICATE` and `FLEET_PRIVATE_KEY`.
@main
struct FleetService {
  static func main() async {
    var logger = Logger(label: "org.example.FleetService")
    logger[metadataKey: "process"] = "\(getpid())"
    do {
      try await run(logger)
    } catch {
      logger.error("\(error)")
      exit(1)
    }
  }

  private static func run(_ logger: Logger) async throws {
    SecureStorageDefaults.service = "org.example.FleetService"
    let storage = try storage()
    // Reads are answered from memory. The cluster tells the cache about changes.
    SecureStorageDefaults.storage = storage.cached()
    let settings = SecureSettings()

    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("serve", 1):
      let group = ServiceGroup(
        services: [TokenClient(settings: settings, logger: logger)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
      try await group.run()
    case ("initialize", 1):
      let isNew = try await storage.initialize()
      logger.info(isNew ? "the namespace was created" : "the namespace exists")
    case ("set", 2):
      try await settings.$apiToken.write(arguments[1])
    default:
      throw Usage()
    }
  }

  private static func storage() throws -> EtcdStorage {
    let authorities = try variable("FLEET_AUTHORITIES")
    let tls =
      if let certificate = try? variable("FLEET_CERTIFICATE") {
        EtcdTLS(
          authorities: authorities, certificate: certificate,
          privateKey: try variable("FLEET_PRIVATE_KEY"))
      } else {
        EtcdTLS(authorities: authorities)
      }
    return EtcdStorage(
      endpoints: try variable("FLEET_ENDPOINTS").split(separator: ",").map(String.init),
      namespace: try variable("FLEET_NAMESPACE"),
      key: .keyFile(at: try variable("FLEET_KEY_FILE")), tls: tls)
  }

  private static func variable(_ name: String) throws -> String {
    guard let value = getenv(name) else { throw MissingVariable(name: name) }
    return String(cString: value)
  }
}

struct MissingVariable: Error, CustomStringConvertible {
  let name: String
  var description: String { "The variable \(name) isn't set." }
}

struct Usage: Error, CustomStringConvertible {
  var description: String { "usage: FleetService serve | initialize | set TOKEN" }
}
