// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The representation of a key as the attributes of a Secret Service item.
extension ItemKey {
  /// The value of this package's private attribute: the kind, and the names of the key's parts.
  ///
  /// Providers replace by subset: creating an item with {service} overwrites one with {service, username}.
  /// With this attribute in every item, no key's attributes are a subset of another's.
  private var signature: String {
    "\(kind.rawValue):\(attributes.keys.sorted().joined(separator: ","))"
  }

  /// The attributes that find this package's own item.
  var ownAttributes: [String: String] {
    var own = attributes
    own[AttributeName.key] = signature
    return own
  }

  /// The attributes of a new item, without its extra attributes.
  var newAttributes: [String: String] {
    ownAttributes.merging([AttributeName.schema: kind.schema]) { $1 }
  }

  /// Creates the key of an item, regardless of owner, or returns `nil` if the item is of an unknown kind.
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
  /// The schema by which libsecret's tools know an item of this kind.
  ///
  /// The package never searches by schema, because some providers find nothing that way while they hide
  /// attributes.
  fileprivate var schema: String {
    self == .internetPassword
      ? "org.gnome.keyring.NetworkPassword" : "org.freedesktop.Secret.Generic"
  }
}
#endif
