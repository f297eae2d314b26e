// SPDX-License-Identifier: Apache-2.0

/// The names of the Secret Service attributes that store the parts of an item.
package enum AttributeName {
  /// The app or service.
  package static let service = "service"
  /// The account of a password or the login of a credential.
  package static let username = "username"
  /// The name of a credential within its service.
  package static let label = "label"
  /// The access group of a password or value.
  package static let accessGroup = "access-group"
  /// The owner's description of the item.
  package static let comment = "comment"
  /// The time at which the secret expires.
  package static let expires = "expires"

  // The names of libsecret's network schema.
  /// The host.
  package static let server = "server"
  /// The scheme of the URL.
  package static let `protocol` = "protocol"
  /// The port, in decimal.
  package static let port = "port"
  /// The path on the server.
  package static let object = "object"
  /// The security domain or realm.
  package static let domain = "domain"
  /// The way in which the user authenticates.
  package static let authenticationType = "authtype"
  /// The account on a server.
  package static let user = "user"

  /// The kind of an item and the names of its key's parts, in an attribute of this package.
  ///
  /// With it, no item's attributes are a subset of another item's.
  package static let key = "swift-keyring:key"
  /// The revision of an item, in an attribute of this package.
  ///
  /// It identifies the newest of several items with the same key. An item that lacks the attribute has the
  /// revision 0.
  package static let revision = "swift-keyring:revision"
  /// A mark that an empty secret is intended, in an attribute of this package.
  ///
  /// For an existing item, the attribute is written before the secret becomes empty. The item keeps the
  /// attribute, whatever its secret becomes. If the item is replaced by one with other attributes, the new
  /// item gets the attribute only if its own secret is empty.
  package static let emptySecret = "swift-keyring:empty"
  /// A mark that the secret may be in the binary form of a keyring without encryption, in an attribute of this
  /// package.
  ///
  /// The item keeps the attribute, whatever form its secret takes. Readers go by the secret.
  package static let binaryForm = "swift-keyring:binary"
  /// A random value that no other item has, in an attribute of this package.
  ///
  /// With it, an item's attributes never contain those of another item. Items have it on keyrings that might
  /// change or remove such an item, too.
  package static let unique = "swift-keyring:unique"
  /// A mark that the item has taken the place of another program's item, in an attribute of this package.
  ///
  /// The other item may still be there, and is removed together with this one.
  package static let successor = "swift-keyring:successor"
  /// The time at which the item was first stored, in seconds since 1970, in an attribute of this package.
  ///
  /// An item that replaces another one has it, because a keyring reports when the new one was created.
  package static let firstStored = "swift-keyring:created"
  /// The schema of the item, in an attribute of libsecret.
  package static let schema = "xdg:schema"
  /// The type of the secret, in an attribute of some providers.
  package static let contentType = "xdg:content-type"

  /// The names that only a storage may use.
  package static let reserved: Set<String> = [
    key, revision, emptySecret, binaryForm, unique, successor, firstStored, schema,
  ]

  /// Returns `true` for an attribute name that is a storage's own.
  ///
  /// gnome-keyring 42 marks attributes in its files with a prefix of the name. If a name already has that
  /// prefix, gnome-keyring drops or renames the attribute when it reads the file again.
  ///
  /// - Parameter name: The name.
  /// - Returns: `true` for a name that callers must leave alone.
  package static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || name.hasPrefix("gkr:compat:")
  }
}

// Functions of their own, so that a module doesn't contain the code of each dictionary's method once more.

extension [String: String] {
  /// The names and values in the order of the names.
  @inline(never)
  package var inOrder: [(key: String, value: String)] { sorted { $0.key < $1.key } }

  /// Returns the attributes with others, which take the place of those with the same names.
  ///
  /// - Parameter others: The other attributes.
  /// - Returns: All of them.
  @inline(never)
  package func setting(_ others: [String: String]) -> [String: String] {
    var all = self
    for (name, value) in others { all[name] = value }
    return all
  }

  /// Returns the attributes with some names.
  ///
  /// - Parameter isKept: The closure that returns `true` for the name of an attribute to keep.
  /// - Returns: The attributes.
  @inline(never)
  package func keeping(_ isKept: (String) -> Bool) -> [String: String] {
    filter { isKept($0.key) }
  }

  /// Compares the names and values of two sets of attributes, byte for byte.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: `true` for the same names and values.
  package func hasSameBytes(_ other: [String: String]) -> Bool {
    count == other.count && isContained(in: other)
  }

  /// Looks for all of these names and values in other attributes, byte for byte.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: `true` for attributes that include all of these.
  package func isContained(in other: [String: String]) -> Bool {
    allSatisfy { name, value in other.value(ofExactly: name)?.hasSameBytes(value) ?? false }
  }

  /// Returns the value of the attribute with exactly this name.
  ///
  /// - Parameter name: The name of the attribute.
  /// - Returns: The value, if any. A name that looks the same but has other bytes is another name.
  package func value(ofExactly name: String) -> String? {
    index(forKey: name).flatMap { self[$0].key.hasSameBytes(name) ? self[$0].value : nil }
  }
}

extension InternetServer {
  /// The parts as attributes of the schema org.gnome.keyring.NetworkPassword.
  package var attributes: [String: String] {
    [
      (AttributeName.server, host),
      (AttributeName.port, port.map { String($0) }),
      (AttributeName.object, path),
      (AttributeName.domain, securityDomain),
      (AttributeName.protocol, `protocol`?.rawValue),
      (AttributeName.authenticationType, authenticationType?.rawValue),
    ].reduce(into: [:]) { $0[$1.0] = $1.1 }
  }

  /// Creates a server from attributes, or `nil` if they name no host.
  init?(attributes: [String: String]) {
    guard let host = attributes[AttributeName.server] else { return nil }
    self.init(
      host,
      port: attributes[AttributeName.port].flatMap(UInt16.init),
      path: attributes[AttributeName.object],
      securityDomain: attributes[AttributeName.domain],
      protocol: attributes[AttributeName.protocol].map(InternetServer.Scheme.init(rawValue:)),
      authenticationType: attributes[AttributeName.authenticationType].map(
        InternetServer.AuthenticationType.init(rawValue:)))
  }
}
