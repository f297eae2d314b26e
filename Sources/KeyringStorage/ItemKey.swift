/// What makes an item unique: its kind and the attributes that name it.
///
/// Two keys are the same only if kind and every part are; keys of different kinds never collide.
public struct ItemKey: Hashable, Sendable {
  /// The kind of item.
  public let kind: ItemKind

  /// The parts of the key, by the names they have as attributes in the Secret Service.
  public private(set) var attributes: [String: String]

  /// Makes the key of a kind of your own.
  ///
  /// - Parameters:
  ///   - kind: The kind of item.
  ///   - attributes: The parts of the key by attribute name; none of them may be empty, and no name
  ///     may contain a colon or a comma.
  public init(kind: ItemKind, attributes: [String: String]) {
    self.kind = kind
    self.attributes = attributes
  }

  /// The key of a password: one for each account of a service.
  ///
  /// - Parameters:
  ///   - service: The app or service that the password belongs to.
  ///   - account: The account at that service.
  ///   - accessGroup: The name that several programs of one maker share items under; part of the
  ///     key. On Linux it separates items, and keeps no program of the user's from reading them.
  /// - Returns: The key.
  public static func password(
    service: String, account: String, accessGroup: String? = nil
  ) -> ItemKey {
    ItemKey(kind: .password, service: service, account: account, accessGroup: accessGroup)
  }

  /// The key of a value: bytes, or anything that can be encoded.
  ///
  /// - Parameters:
  ///   - service: The app or service that the value belongs to.
  ///   - account: The name of the value within that service.
  ///   - accessGroup: The name that several programs of one maker share items under; part of the
  ///     key.
  /// - Returns: The key.
  public static func value(
    service: String, account: String, accessGroup: String? = nil
  ) -> ItemKey {
    ItemKey(kind: .value, service: service, account: account, accessGroup: accessGroup)
  }

  private init(kind: ItemKind, service: String, account: String, accessGroup: String?) {
    self.init(
      kind: kind, attributes: [AttributeName.service: service, AttributeName.username: account])
    attributes[AttributeName.accessGroup] = accessGroup
  }

  /// The key of an internet password: the server, all that is known of it, and the account.
  ///
  /// - Parameters:
  ///   - server: The server; what is left out of it is no part of the key.
  ///   - account: The account on that server, if it has several.
  /// - Returns: The key.
  public static func internetPassword(server: InternetServer, account: String? = nil) -> ItemKey {
    var attributes = server.attributes
    attributes[AttributeName.user] = account
    return ItemKey(kind: .internetPassword, attributes: attributes)
  }

  /// The key of a credential: a label names one login and its password.
  ///
  /// - Parameters:
  ///   - service: The app or service that the credential belongs to.
  ///   - label: The name of the credential within that service.
  /// - Returns: The key.
  public static func credentials(service: String, label: String) -> ItemKey {
    ItemKey(
      kind: .credentials,
      attributes: [AttributeName.service: service, AttributeName.label: label])
  }
}

extension ItemKey {
  /// Compares two keys byte by byte, as a keyring does.
  ///
  /// - Parameters:
  ///   - lhs: A key.
  ///   - rhs: Another key.
  /// - Returns: Whether kind and parts are the same.
  public static func == (lhs: ItemKey, rhs: ItemKey) -> Bool {
    lhs.kind == rhs.kind && lhs.attributes.isExactly(rhs.attributes)
  }

  /// Hashes the kind and the bytes of the parts.
  ///
  /// - Parameter hasher: What to feed them to.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    // A sum, because a dictionary has no order, and sorting takes longer than hashing.
    var sum = 0
    for (name, var value) in attributes {
      var part = Hasher()
      part.combine(name)
      value.withUTF8 { part.combine(bytes: UnsafeRawBufferPointer($0)) }
      sum &+= part.finalize()
    }
    hasher.combine(sum)
  }
}

extension ItemKey: CustomStringConvertible {
  /// The kind and the parts, for messages: `password (service: org.example.app, username: me)`.
  public var description: String {
    let parts = attributes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "\(kind) (\(parts.joined(separator: ", ")))"
  }
}
