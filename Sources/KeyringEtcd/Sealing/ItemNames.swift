// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

/// The names of items and services in etcd's database, which nobody can read without the key.
final class ItemNames: Sendable {
  private let key: SealingKey
  private let namespace: Namespace
  /// The names of the items that were used last, because each takes two authentication codes.
  private let known = RecentValues<ItemKey, EtcdKey>()

  init(_ key: SealingKey, in namespace: Namespace) {
    (self.key, self.namespace) = (key, namespace)
  }

  /// Returns the prefixes of everything that is written for the service of a key.
  ///
  /// An internet password belongs to its server, and another item without a service to its kind.
  func service(of key: ItemKey) -> Namespace.Service {
    if let service = key.service { return self.service(service) }
    let server = key.attributes[AttributeName.server]
    return namespace.service(code(server == nil ? "kind" : "server", server ?? key.kind.rawValue))
  }

  /// Returns the prefixes of everything that is written for a service.
  func service(_ service: String) -> Namespace.Service {
    namespace.service(code("service", service))
  }

  /// Returns the key under which an item is stored.
  func item(_ key: ItemKey) -> EtcdKey {
    if let name = known[key] { return name }
    var text = key.kind.rawValue
    for (name, value) in key.attributes.sorted(by: { $0.key < $1.key }) {
      text += "\0\(name)\0\(value)"
    }
    let name = service(of: key).items + code("item", text)
    known[key] = name
    return name
  }

  /// Returns 128 bits of the HMAC of a text.
  private func code(_ purpose: String, _ text: String) -> String {
    key.authenticationCode(for: Array("\(purpose)\0\(text)".utf8)).prefix(16).hexadecimal
  }
}
#endif
