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
///   FleetService permissions ROLE | sh
///   FleetService set <FILE
///
/// The command `permissions` prints the commands that allow a role to use the items of the service. The command
/// `set` reads the token from standard input, because other programs can see the arguments of a process.
///
/// The cluster and the keys are in the environment: `FLEET_ENDPOINTS`, separated by commas,
/// `FLEET_NAMESPACE`, `FLEET_KEY_FILE`, `FLEET_AUTHORITIES`, and, if the cluster asks for a certificate,
/// `FLEET_CERTIFICATE` and `FLEET_PRIVATE_KEY`. If the cluster has users, `FLEET_USER` is the name of one, and
/// the systemd credential `etcd-password` is its password.
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
    let cache = storage.cached()
    SecureStorageDefaults.storage = cache
    let settings = SecureSettings()

    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("serve", 1):
      let group = ServiceGroup(
        services: [TokenClient(settings: settings, storage: cache, logger: logger)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
      try await group.run()
    case ("initialize", 1):
      let isNew = try await storage.createNamespace()
      logger.info(isNew ? "the namespace was created" : "the namespace exists")
    case ("permissions", 2):
      for permission in try await storage.permissions(for: settings.$apiToken.key) {
        print("etcdctl role grant-permission --prefix '\(arguments[1])' \(permission)")
      }
    case ("set", 1):
      guard let token = readLine(), !token.isEmpty else {
        throw Failure("There is no token on standard input.")
      }
      try await settings.$apiToken.write(token)
    default:
      throw Failure("usage: FleetService serve | initialize | permissions ROLE | set <FILE")
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
      key: .keyFile(at: try variable("FLEET_KEY_FILE")), tls: tls, user: try user())
  }

  private static func user() throws -> EtcdUser? {
    guard let name = try? variable("FLEET_USER") else { return nil }
    let (service, credential) = (SecureStorageDefaults.service, "etcd-password")
    let password = try CredentialsDirectoryStorage(service: service)
      .secret(for: .password(service: service, account: credential))
    guard let password else {
      throw Failure("The systemd credential \(credential) of the user \(name) is missing.")
    }
    return EtcdUser(name: name, password: password)
  }

  private static func variable(_ name: String) throws -> String {
    guard let value = getenv(name) else { throw Failure("The variable \(name) isn't set.") }
    return String(cString: value)
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
