// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage

/// The names of items and services in etcd's database, which only the key can tell.
final class ItemNames: Sendable {
  private let key: SealingKey
  private let namespace: Namespace
  /// The names of the items that were used last, because each takes an authentication code.
  private let known = RecentValues<ItemKey, EtcdKey>()
  /// The prefixes of the services that were used last, by what their code stands for.
  ///
  /// Texts with different bytes can be equal.
  private let services = RecentValues<[UInt8], Namespace.Service>()

  init(_ key: SealingKey, in namespace: Namespace) {
    (self.key, self.namespace) = (key, namespace)
  }

  /// Returns the prefixes of everything that is written for the service of a key.
  ///
  /// An internet password belongs to its server, and any other item that lacks a service to its kind.
  func service(of key: ItemKey) -> Namespace.Service {
    if let service = key.service { return self.service(service) }
    let server = key.attributes[AttributeName.server]
    return service(server ?? key.kind.rawValue, as: server == nil ? "kind" : "server")
  }

  /// Returns the prefixes of everything that is written for a service.
  func service(_ service: String) -> Namespace.Service { self.service(service, as: "service") }

  private func service(_ text: String, as purpose: String) -> Namespace.Service {
    let name = Array("\(purpose)\0\(text)".utf8)
    if let known = services[name] { return known }
    let service = namespace.service(code(name))
    services[name] = service
    return service
  }

  /// Returns the key under which an item is stored.
  func item(_ key: ItemKey) -> EtcdKey {
    if let name = known[key] { return name }
    let name = name(of: key)
    known[key] = name
    return name
  }

  /// Returns the prefix of the turns to change an item.
  func turns(_ key: ItemKey) -> EtcdKey {
    let service = service(of: key)
    return service.turns + (item(key).path.dropFirst(service.items.path.count) + "/")
  }

  /// Returns `true` for the key under which an item is stored.
  ///
  /// A list of many items leaves the remembered names alone.
  func isName(_ name: EtcdKey, of key: ItemKey) -> Bool {
    (known[key] ?? self.name(of: key)) == name
  }

  private func name(of key: ItemKey) -> EtcdKey {
    var text = "item\0" + key.storedKind
    for (name, value) in key.attributes.sorted(by: { $0.key < $1.key }) {
      text += "\0\(name)\0\(value)"
    }
    return service(of: key).items + code(Array(text.utf8))
  }

  /// Returns 128 bits of the HMAC of a text.
  private func code(_ text: [UInt8]) -> String {
    key.authenticationCode(for: text).prefix(16).hexadecimal
  }
}
#endif
