#if SecretService && os(Linux)
internal import KeyringStorage

/// How a key is written as the attributes of a Secret Service item.
extension ItemKey {
  /// The value of our private attribute: the kind, and which parts the key has.
  ///
  /// The daemons replace by subset: creating an item with {service} overwrites one with {service,
  /// username}. With this attribute in every item no key's attributes are a subset of another's.
  private var signature: String {
    "\(kind.rawValue):\(attributes.keys.sorted().joined(separator: ","))"
  }

  /// What finds this package's own item.
  var ownAttributes: [String: String] {
    attributes.merging([AttributeName.key: signature]) { $1 }
  }

  /// What a new item is created with, beside its extra attributes.
  var newAttributes: [String: String] {
    ownAttributes.merging([AttributeName.schema: kind.schema]) { $1 }
  }

  /// Reads the key of an item, ours or another program's; `nil` when it is of no kind we know.
  init?(itemAttributes: [String: String]) {
    if let signature = itemAttributes[AttributeName.key] {
      self.init(signature: signature, itemAttributes)
    } else if itemAttributes[AttributeName.server] != nil {
      let parts = [
        AttributeName.server, AttributeName.protocol, AttributeName.port, AttributeName.object,
        AttributeName.domain, AttributeName.authenticationType, AttributeName.user,
      ]
      self.init(.internetPassword, parts.filter { itemAttributes[$0] != nil }, itemAttributes)
    } else if itemAttributes[AttributeName.label] != nil {
      self.init(.credentials, [AttributeName.service, AttributeName.label], itemAttributes)
    } else {
      self.init(.password, [AttributeName.service, AttributeName.username], itemAttributes)
    }
  }

  private init?(signature: String, _ itemAttributes: [String: String]) {
    let parts = signature.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    self.init(
      ItemKind(rawValue: String(parts[0])), parts[1].split(separator: ",").map(String.init),
      itemAttributes)
  }

  private init?(_ kind: ItemKind, _ names: [String], _ itemAttributes: [String: String]) {
    let attributes = itemAttributes.filter { names.contains($0.key) }
    guard attributes.count == names.count else { return nil }
    self.init(kind: kind, attributes: attributes)
  }
}

extension ItemKind {
  /// The schema that libsecret's tools know such an item by; we never search by it, because
  /// gnome-keyring finds nothing so before its first unlock since log-in.
  fileprivate var schema: String {
    self == .internetPassword
      ? "org.gnome.keyring.NetworkPassword" : "org.freedesktop.Secret.Generic"
  }
}
#endif
