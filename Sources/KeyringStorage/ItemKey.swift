internal import Synchronization

/// What makes an item unique: its kind and the attributes that name it.
///
/// Two keys are the same only if kind and every part are; keys of different kinds never collide.
public struct ItemKey: Hashable, Sendable {
  private let name: ItemName

  /// The kind of item.
  public var kind: ItemKind { name.kind }

  /// The parts of the key, by the names they have as attributes in the Secret Service.
  public var attributes: [String: String] { name.attributes }

  /// Makes the key of a kind of your own.
  ///
  /// - Parameters:
  ///   - kind: The kind of item.
  ///   - attributes: The parts of the key by attribute name; none of them may be empty, and no name
  ///     may contain a colon or a comma.
  public init(kind: ItemKind, attributes: [String: String]) {
    name = ItemName(kind, attributes)
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
    var attributes = [AttributeName.service: service, AttributeName.username: account]
    attributes[AttributeName.accessGroup] = accessGroup
    self.init(kind: kind, attributes: attributes)
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
  /// Tells whether two keys have the same kind and the same parts, byte for byte.
  ///
  /// - Parameters:
  ///   - lhs: A key.
  ///   - rhs: Another key.
  /// - Returns: `true` if they have.
  public static func == (lhs: ItemKey, rhs: ItemKey) -> Bool {
    lhs.name === rhs.name
      || lhs.name.hash == rhs.name.hash
        && lhs.name.bytes.withUnsafeBytes { left in
          rhs.name.bytes.withUnsafeBytes { left.isExactly($0) }
        }
  }

  /// Feeds kind and parts to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name.hash)
  }

  /// Whether a storage has found nothing wrong with the key, so that no other need look again.
  var isChecked: Bool {
    get { name.isChecked.load(ordering: .relaxed) }
    nonmutating set { name.isChecked.store(newValue, ordering: .relaxed) }
  }
}

/// Kind and parts of a key, and what takes longer to make than the item takes to find.
private final class ItemName: Sendable {
  let kind: ItemKind
  let attributes: [String: String]
  /// All of it in a row; text is written with its length, so that no two keys have the same.
  let bytes: [UInt8]
  let hash: Int
  let isChecked = Atomic(false)

  init(_ kind: ItemKind, _ attributes: [String: String]) {
    self.kind = kind
    self.attributes = attributes
    var bytes: [UInt8] = []
    func append(_ text: String) {
      withUnsafeBytes(of: text.utf8.count) { bytes += $0 }
      bytes += text.utf8
    }
    append(kind.rawValue)
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      append(name)
      append(value)
    }
    self.bytes = bytes
    hash = bytes.hashValue
  }
}

extension ItemKey: CustomStringConvertible {
  /// The kind and the parts, for messages: `password (service: org.example.app, username: me)`.
  public var description: String {
    let parts = attributes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "\(kind) (\(parts.joined(separator: ", ")))"
  }
}
