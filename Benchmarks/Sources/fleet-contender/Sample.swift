// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc
import Keyring
import KeyringEtcd
import KeyringStorage

/// The cluster, and the items in it.
extension Sample {
  static func key(_ number: Int) -> ItemKey {
    .password(service: service, account: account(number))
  }

  static var endpoints: [String] {
    variable("FLEET_ENDPOINTS").split(separator: ",").map(String.init)
  }
  static var namespace: String { variable("FLEET_NAMESPACE") }

  static var tls: EtcdTLS {
    EtcdTLS(
      authorities: variable("FLEET_AUTHORITIES"), certificate: variable("FLEET_CERTIFICATE"),
      privateKey: variable("FLEET_PRIVATE_KEY"))
  }

  /// Returns a storage that asks any of the nodes.
  static func storage(endpoints: [String] = endpoints) -> EtcdStorage {
    EtcdStorage(
      endpoints: endpoints, namespace: namespace, key: .keyFile(at: variable("FLEET_KEY_FILE")),
      tls: tls, timeout: .seconds(30))
  }

  static func variable(_ name: String) -> String {
    getenv(name).map { String(cString: $0) } ?? ""
  }

  /// Creates the namespace unless it exists, and items.
  static func fill(_ numbers: Range<Int>) async throws {
    let storage = storage()
    try await storage.createNamespace()
    // One write after the other would take minutes.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in numbers {
        if number - numbers.lowerBound >= 32 { try await group.next() }
        group.addTask { try await storage.setPassword(password(number), for: key(number)) }
      }
      try await group.waitForAll()
    }
  }
}
