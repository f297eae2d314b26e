// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The items of other programs that a key means.
///
/// Such an item has exactly the attributes of the key, apart from known ones that add nothing, and no schema, the
/// generic one or that of the key. Everything else is another item, even if it has all parts of the key.
extension ItemKey {
  /// The attributes that programs add to passwords that they share with others, with the values that they have.
  private static let harmlessValues: [String: Set<String>] = [
    // python keyring 11 to 25 and 2 to 10, and keyring-rs 0.8 to 3.
    "application": ["Python keyring library", "python-keyring", "rust-keyring"],
    // keyring-rs 2 to 4. Any other target is another item there, too.
    "target": ["default"],
  ]

  /// The attributes that add nothing to any item.
  ///
  /// oo7's daemon keeps the type of a secret as an attribute. Earlier versions of this package set a comment or a time
  /// of expiry on another program's item without making the item their own.
  private static let harmlessNames: Set<String> = [
    AttributeName.contentType, AttributeName.comment, AttributeName.expires,
  ]

  private static let genericSchema = ItemKind.password.schema

  /// The schemas of the programs that keep passwords of servers.
  ///
  /// git-credential-libsecret has its own since git 2.47, and before that libsecret's.
  private static let serverSchemas: Set<String> = [
    ItemKind.internetPassword.schema, "org.git.Password",
  ]

  /// Returns `true` for an attribute that makes no difference beside those of the key.
  private func isHarmless(_ name: String, _ value: String) -> Bool {
    AttributeName.isReserved(name) || Self.harmlessNames.contains(name)
      // The login is the value of a credential.
      || kind == .credentials && name == AttributeName.username
      || attributes[AttributeName.username] != nil
        && Self.harmlessValues[name]?.contains(value) == true
  }

  /// Returns `true` for the attributes of another program's item that the key means.
  func means(itemOfAnotherProgram item: [String: String]) -> Bool {
    if let found = item[AttributeName.schema], !found.isEmpty, found != Self.genericSchema,
      found != schema, kind != .internetPassword || !Self.serverSchemas.contains(found)
    {
      return false
    }
    return attributes.isContained(in: item)
      && item.allSatisfy { name, value in
        attributes.value(ofExactly: name) != nil || isHarmless(name, value)
      }
  }

  /// Returns the key of another program's item.
  ///
  /// - Parameter item: The attributes of the item.
  /// - Returns: The key, and whether it's none that a property has by itself. It then has all attributes and the schema
  ///   of the item.
  static func ofAnotherProgram(_ item: [String: String]) -> (key: ItemKey, isForeign: Bool) {
    for (kind, names) in usualParts {
      let needed = kind == .internetPassword ? [AttributeName.server] : names
      guard needed.allSatisfy({ item[$0] != nil }) else { continue }
      let key = ItemKey(kind: kind, attributes: item.filter { names.contains($0.key) })
      if key.means(itemOfAnotherProgram: item) { return (key, false) }
    }
    let attributes = item.filter { !AttributeName.isReserved($0.key) }
    let isOfServer = attributes.keys.allSatisfy(serverParts.contains)
    let schema = item[AttributeName.schema].flatMap { $0.isEmpty || $0 == genericSchema ? nil : $0 }
    return (
      ItemKey(
        kind: isOfServer && !attributes.isEmpty ? .internetPassword : .password,
        attributes: attributes, schema: schema), true
    )
  }

  private static let serverParts: [String] = [
    AttributeName.server, AttributeName.protocol, AttributeName.port, AttributeName.object,
    AttributeName.domain, AttributeName.authenticationType, AttributeName.user,
  ]

  /// The names of the parts of keys that properties have.
  private static let usualParts: [(kind: ItemKind, names: [String])] = [
    (.password, [AttributeName.service, AttributeName.username]),
    (.password, [AttributeName.service, AttributeName.username, AttributeName.accessGroup]),
    (.credentials, [AttributeName.service, AttributeName.label]),
    (.internetPassword, serverParts),
  ]
}
#endif
