/// A kind of item, such as a password or a pair of login and password.
public struct ItemKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the kind, as it is stored with its items.
  public let rawValue: String

  /// Makes a kind.
  ///
  /// - Parameter rawValue: The name of the kind; without colon and comma.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// A password, named by service and account.
  public static let password = ItemKind(rawValue: "password")
  /// A login and its password, named by service and label.
  public static let credentials = ItemKind(rawValue: "credentials")

  /// The password of an account on a server.
  public static let internetPassword = ItemKind(rawValue: "internet-password")
  /// Bytes, or a value that was encoded, named by service and account.
  public static let value = ItemKind(rawValue: "value")

  /// Tells whether two kinds have names of the same bytes.
  ///
  /// - Parameters:
  ///   - lhs: A kind.
  ///   - rhs: Another.
  /// - Returns: `true` if they have.
  public static func == (lhs: ItemKind, rhs: ItemKind) -> Bool {
    lhs.rawValue.isExactly(rhs.rawValue)
  }

  /// The name of the kind.
  public var description: String { rawValue }
}
