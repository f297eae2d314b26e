/// A plaintext value, and the item that it is to become.
public struct PlaintextItem: Sendable {
  let path: [String]
  let key: ItemKey
  private let adopt: @Sendable (PlaintextValue, inout SecureItem) -> Bool

  /// Says what becomes of a value.
  ///
  /// - Parameters:
  ///   - path: The names on the way to the value.
  ///   - key: The key of the item.
  ///   - coding: How the value is kept in the item.
  package init<Value>(path: [String], as key: ItemKey, coding: ItemCoding<Value>) {
    (self.path, self.key, adopt) = (path, key, coding.adopt)
  }

  /// Text that becomes a password.
  ///
  /// - Parameters:
  ///   - path: The name of the value; in nested JSON, the names on the way to it.
  ///   - key: The key of a generic or an internet password.
  /// - Returns: The plan for the value.
  public static func password(_ path: String..., as key: ItemKey) -> PlaintextItem {
    PlaintextItem(path: path, as: key, coding: .text)
  }

  /// A JSON object with the members `login` and `password`, or text that is one, that becomes a
  /// credential.
  ///
  /// - Parameters:
  ///   - path: The name of the value; in nested JSON, the names on the way to it.
  ///   - key: The key of the credential.
  /// - Returns: The plan for the value.
  public static func credential(_ path: String..., as key: ItemKey) -> PlaintextItem {
    PlaintextItem(path: path, as: key, coding: .credential)
  }

  /// JSON, or text that is JSON, that becomes a value of a type.
  ///
  /// It is stored as it is, also with members that the type does not have. `Data` and `[UInt8]` are
  /// stored as their bytes; in text and JSON, `Data` is Base64.
  ///
  /// - Parameters:
  ///   - path: The name of the value; in nested JSON, the names on the way to it.
  ///   - type: The type that the value is read as.
  ///   - key: The key of the value.
  /// - Returns: The plan for the value.
  public static func value<Value: Codable & Sendable>(
    _ path: String..., of type: Value.Type, as key: ItemKey
  ) -> PlaintextItem {
    PlaintextItem(path: path, as: key, coding: ItemCoding<Value>.value)
  }

  /// The name of the value, for messages.
  var name: String { "\"\(path.joined(separator: "."))\"" }

  /// The item that a value becomes; `nil` when it is of another type.
  func item(_ value: PlaintextValue) -> SecureItem? {
    var item = SecureItem(key: key)
    return adopt(value, &item) ? item : nil
  }
}
