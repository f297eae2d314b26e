// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The unique identifier of an item, which consists of its kind and its identifying attributes.
///
/// Two keys are equal only if their kinds and all of their parts are equal. Keys of different kinds never
/// collide.
public struct ItemKey: Hashable, Sendable {
  @usableFromInline
  let name: ItemName

  /// The kind of item.
  public var kind: ItemKind { name.kind }

  /// The parts of the key, by their attribute names in the Secret Service.
  public var attributes: [String: String] { name.attributes }

  /// Creates a key for a custom kind of item.
  ///
  /// - Parameters:
  ///   - kind: The kind of item.
  ///   - attributes: The parts of the key, by attribute name. A part can't be empty, and a name can't
  ///     contain a colon or a comma.
  public init(kind: ItemKind, attributes: [String: String]) { name = ItemName(kind, attributes) }

  /// Returns the key of a password.
  ///
  /// Each account of a service has one password.
  ///
  /// - Parameters:
  ///   - service: The app or service that the password belongs to.
  ///   - account: The account at that service.
  ///   - accessGroup: The name under which several programs of one vendor share items. It's part of the
  ///     key. On Linux, it separates items, but doesn't prevent other programs of the user from reading
  ///     them.
  /// - Returns: The key.
  public static func password(
    service: String, account: String, accessGroup: String? = nil
  ) -> ItemKey {
    ItemKey(kind: .password, service: service, account: account, accessGroup: accessGroup)
  }

  /// Returns the key of a value, which is bytes or anything that can be encoded.
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
    self.init(kind: kind, attributes: attributes)
  }

  /// Returns the key of an internet password.
  ///
  /// The key consists of the parts of the server that you specify, and the account.
  ///
  /// - Parameters:
  ///   - server: The server. Parts that you leave out don't belong to the key.
  ///   - account: The account, if the server has several.
  /// - Returns: The key.
  public static func internetPassword(server: InternetServer, account: String? = nil) -> ItemKey {
    var attributes = server.attributes
    attributes[AttributeName.user] = account
    return ItemKey(kind: .internetPassword, attributes: attributes)
  }

  /// Returns the key of a credential.
  ///
  /// A label names one login and its password.
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

// MARK: - Parts

extension ItemKey {
  /// The service that the item belongs to, or `nil` if it has none, such as an internet password.
  public var service: String? { attributes[AttributeName.service] }

  /// The account that the item belongs to, or `nil` if the key has none.
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
  // Inlined, because a storage in memory or a cache compares keys in each read.

  /// Returns `true` if two keys have the same kind and the same parts, byte for byte.
  @inlinable
  public static func == (lhs: ItemKey, rhs: ItemKey) -> Bool {
    lhs.name === rhs.name || lhs.name.hash == rhs.name.hash && lhs.name.hasSameBytes(rhs.name)
  }

  /// Hashes the kind and the parts.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(name.hash) }

  /// Indicates whether a storage has already validated the key, so that others don't have to.
  var isValidated: Bool {
    get { name.isValidated.load(ordering: .relaxed) }
    nonmutating set { name.isValidated.store(newValue, ordering: .relaxed) }
  }
}

/// The kind and the parts of a key, with cached values that are derived from them.
///
/// Computing these values takes longer than finding the item.
@usableFromInline
final class ItemName: Sendable {
  let kind: ItemKind
  let attributes: [String: String]
  /// The kind and all parts as one array.
  ///
  /// Each text is preceded by its length, so that different keys have different bytes.
  let bytes: [UInt8]
  @usableFromInline
  let hash: Int
  let isValidated = Atomic(false)

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

  /// Returns `true` if two names have the same kind and the same parts.
  @usableFromInline
  func hasSameBytes(_ other: ItemName) -> Bool {
    bytes.withUnsafeBytes { left in other.bytes.withUnsafeBytes { left.hasSameBytes($0) } }
  }
}

extension ItemKey: CustomStringConvertible, CustomReflectable {
  /// A mirror without children, so that a dump shows the description.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The kind and the parts for messages, such as `password (service: org.example.app, username: me)`.
  public var description: String {
    let parts = attributes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "\(kind) (\(parts.joined(separator: ", ")))"
  }
}

/// A kind of item, such as a password or a login with its password.
public struct ItemKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the kind, which is stored with its items.
  public let rawValue: String

  /// Creates a kind.
  ///
  /// - Parameter rawValue: The name of the kind. It can't contain a colon or a comma.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A password, identified by a service and an account.
  public static let password = ItemKind(rawValue: "password")
  /// A login and its password, identified by a service and a label.
  public static let credentials = ItemKind(rawValue: "credentials")

  /// The password of an account on a server.
  public static let internetPassword = ItemKind(rawValue: "internet-password")
  /// Bytes or an encoded value, identified by a service and an account.
  public static let value = ItemKind(rawValue: "value")

  /// Returns `true` if the names of two kinds have the same bytes.
  public static func == (lhs: ItemKind, rhs: ItemKind) -> Bool {
    lhs.rawValue.hasSameBytes(rhs.rawValue)
  }

  /// The name of the kind.
  public var description: String { rawValue }
}
