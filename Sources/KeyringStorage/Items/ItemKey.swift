// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The unique identifier of an item, which consists of its kind, its identifying attributes, and a schema.
///
/// Equal keys have the same kind, the same parts and the same schema. Keys of different kinds never collide.
///
/// ```swift
/// let token = ItemKey.password(service: "org.example.app", account: "authToken")
/// let login = ItemKey.credentials(service: "org.example.app", label: "account")
/// ```
public struct ItemKey: Hashable, Sendable {
  @usableFromInline
  let name: ItemName

  /// The kind of item.
  public var kind: ItemKind { name.kind }

  /// The parts of the key, by their attribute names in the Secret Service.
  public var attributes: [String: String] { name.attributes }

  /// The schema that the key names, or `nil` for the usual schema of its kind.
  ///
  /// On the Secret Service, it's the attribute "xdg:schema", by which other programs search.
  public var schema: String? { name.schema }

  /// Creates a key for a custom kind of item, or for an item of another program.
  ///
  /// ```swift
  /// let key = ItemKey(
  ///   kind: .password, attributes: ["account": "default"], schema: "org.example.Mail")
  /// ```
  ///
  /// - Parameters:
  ///   - kind: The kind of item.
  ///   - attributes: The parts of the key, by attribute name. A part can be empty. A colon and a comma are
  ///     refused in a name.
  ///   - schema: The name of the schema, if another program searches for one. The usual one is
  ///     `org.freedesktop.Secret.Generic`, or `org.gnome.keyring.NetworkPassword` for an internet password.
  public init(kind: ItemKind, attributes: [String: String], schema: String? = nil) {
    name = ItemName(kind, attributes, schema, hasAnyParts: true)
  }

  /// Creates a key of parts that a caller has named, none of which is empty.
  private init(_ kind: ItemKind, of parts: [String: String]) {
    name = ItemName(kind, parts, nil, hasAnyParts: false)
  }

  /// Returns the key with the same kind and parts, and another schema.
  ///
  /// ```swift
  /// ItemKey.internetPassword(server: server, account: "me").with(schema: "org.git.Password")
  /// ```
  ///
  /// - Parameter schema: The name of the schema, or `nil` for the usual one.
  /// - Returns: The key.
  public func with(schema: String?) -> ItemKey {
    ItemKey(ItemName(name.kind, name.attributes, schema, hasAnyParts: name.hasAnyParts))
  }

  private init(_ name: ItemName) { self.name = name }

  /// Returns the key of a password.
  ///
  /// Each account of a service has one password.
  ///
  /// ```swift
  /// let key = ItemKey.password(service: "org.example.app", account: "authToken")
  /// ```
  ///
  /// - Parameters:
  ///   - service: The app or service that the password belongs to.
  ///   - account: The account at that service.
  ///   - accessGroup: The name under which several programs of one vendor share items. It's part of the key.
  ///     On Linux, it separates items, which other programs of the user can still read.
  /// - Returns: The key.
  public static func password(
    service: String, account: String, accessGroup: String? = nil
  ) -> ItemKey {
    ItemKey(kind: .password, service: service, account: account, accessGroup: accessGroup)
  }

  /// Returns the key of a value, which is bytes or anything that can be encoded.
  ///
  /// ```swift
  /// let session = ItemKey.value(service: "org.example.app", account: "session")
  /// ```
  ///
  /// - Parameters:
  ///   - service: The app or service that the value belongs to.
  ///   - account: The name of the value within that service.
  ///   - accessGroup: The name under which several programs of one vendor share items. It's part of the
  ///     key.
  /// - Returns: The key.
  public static func value(
    service: String, account: String, accessGroup: String? = nil
  ) -> ItemKey {
    ItemKey(kind: .value, service: service, account: account, accessGroup: accessGroup)
  }

  private init(kind: ItemKind, service: String, account: String, accessGroup: String?) {
    var attributes = [AttributeName.service: service, AttributeName.username: account]
    attributes[AttributeName.accessGroup] = accessGroup
    self.init(kind, of: attributes)
  }

  /// Returns the key of an internet password.
  ///
  /// The key consists of the parts of the server that you specify, and the account.
  ///
  /// ```swift
  /// let key = ItemKey.internetPassword(
  ///   server: InternetServer("git.example.org", protocol: .https), account: "me")
  /// ```
  ///
  /// - Parameters:
  ///   - server: The server. The parts that you give belong to the key.
  ///   - account: The account, for a server that has several.
  /// - Returns: The key.
  public static func internetPassword(server: InternetServer, account: String? = nil) -> ItemKey {
    var attributes = server.attributes
    attributes[AttributeName.user] = account
    return ItemKey(.internetPassword, of: attributes)
  }

  /// Returns the key of a credential.
  ///
  /// A label names one login and its password.
  ///
  /// ```swift
  /// let account = try storage[.credentials(service: "org.example.app", label: "account"), as: .credential].read()
  /// ```
  ///
  /// - Parameters:
  ///   - service: The app or service that the credential belongs to.
  ///   - label: The name of the credential within that service.
  /// - Returns: The key.
  public static func credentials(service: String, label: String) -> ItemKey {
    ItemKey(
      .credentials, of: [AttributeName.service: service, AttributeName.label: label])
  }
}

// MARK: - Parts

extension ItemKey {
  /// The kind, with a colon and the schema if the key names one, as storages keep it.
  ///
  /// No kind has a colon, so keys with different schemas have different texts.
  package var storedKind: String {
    schema.map { "\(kind.rawValue):\($0)" } ?? kind.rawValue
  }

  /// The kind, the parts and the schema as bytes, which no other key has, and which are the same in all programs.
  package var canonicalBytes: [UInt8] { name.bytes }

  /// Creates the key of a stored item.
  ///
  /// - Parameters:
  ///   - storedKind: The kind, perhaps with a schema.
  ///   - attributes: The parts of the key.
  package init(storedKind: Substring, attributes: [String: String]) {
    let end = storedKind.firstIndex(of: ":")
    self.init(
      kind: ItemKind(rawValue: String(storedKind[..<(end ?? storedKind.endIndex)])),
      attributes: attributes, schema: end.map { String(storedKind[$0...].dropFirst()) })
  }

  /// The service that the item belongs to, or `nil` for an item such as an internet password.
  public var service: String? { attributes[AttributeName.service] }

  /// The account that the item belongs to, if the key has one.
  public var account: String? {
    attributes[kind == .internetPassword ? AttributeName.user : AttributeName.username]
  }

  /// The label that names a credential, or `nil` for another kind of item.
  public var label: String? { attributes[AttributeName.label] }

  /// The server of an internet password, or `nil` for another kind of item.
  public var server: InternetServer? {
    kind == .internetPassword ? InternetServer(attributes: attributes) : nil
  }
}

extension ItemKey {
  /// Returns `true` if both keys may mean one item of another program.
  ///
  /// They don't if a part differs that both have.
  package func mayShareItem(with other: ItemKey) -> Bool {
    attributes.allSatisfy { name, value in other.attributes[name]?.hasSameBytes(value) ?? true }
  }
}

extension ItemKey {
  // Inlined, because a storage in memory or a cache compares keys in each read.

  /// Compares the kind, the parts and the schema of two keys, byte for byte.
  @inlinable
  public static func == (lhs: ItemKey, rhs: ItemKey) -> Bool {
    lhs.name === rhs.name || lhs.name.hash == rhs.name.hash && lhs.name.hasSameBytes(rhs.name)
  }

  /// Hashes the kind, the parts and the schema.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(name.hash) }

  // swift-format-ignore: NoLeadingUnderscores
  /// Hashes the kind, the parts and the schema for a dictionary.
  ///
  /// By default, each look-up in a dictionary would call the standard library's hasher four times.
  @inlinable
  public func _rawHashValue(seed: Int) -> Int { name.hash._rawHashValue(seed: seed) }

  /// Whether a storage has already validated the key, which saves others the work.
  var isValidated: Bool {
    get { name.isValidated.load(ordering: .relaxed) }
    nonmutating set { name.isValidated.store(newValue, ordering: .relaxed) }
  }
}

extension ItemKey: CustomStringConvertible, CustomReflectable {
  /// A mirror without children, so that a dump shows the description.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The kind and the parts for messages, such as `password (service: org.example.app, username: me)`.
  public var description: String {
    let parts =
      attributes.inOrder.map { "\($0.key): \($0.value)" }
      + (schema.map { ["\(AttributeName.schema): \($0)"] } ?? [])
    return "\(kind) (\(parts.joined(separator: ", ")))"
  }
}
