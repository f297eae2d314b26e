// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A plaintext value and the item that it becomes.
///
/// ```swift
/// let key = ItemKey.password(service: "org.example.app", account: "token")
/// let migration = Migration(
///   of: [.password("API_TOKEN", as: key)], from: .environmentFile(path), to: SecretServiceStorage())
/// ```
public struct PlaintextMapping: Sendable {
  let path: [String]
  let key: ItemKey
  /// A closure that stores the value in the item, or returns `false` if it has another type.
  let parse: @Sendable (ExternalValue, inout SecureItem) -> Bool

  /// Creates a mapping of text to a password.
  ///
  /// ```swift
  /// let key = ItemKey.password(service: "org.example.app", account: "token")
  /// let mapping = PlaintextMapping.password("API_TOKEN", as: key)
  /// ```
  ///
  /// - Parameters:
  ///   - path: The name of the value. In nested JSON, the names on the way to it.
  ///   - key: The key of a generic or an internet password.
  /// - Returns: The mapping.
  public static func password(_ path: String..., as key: ItemKey) -> PlaintextMapping {
    PlaintextMapping(path: path, key: key, parse: ItemCoding.text.parse)
  }

  /// Creates a mapping of a login and password to a credential.
  ///
  /// The value is a JSON object with the members `login` and `password`, or text that contains one.
  ///
  /// ```swift
  /// let key = ItemKey.credentials(service: "org.example.app", label: "account")
  /// let mapping = PlaintextMapping.credential("login", as: key)
  /// ```
  ///
  /// - Parameters:
  ///   - path: The name of the value. In nested JSON, the names on the way to it.
  ///   - key: The key of the credential.
  /// - Returns: The mapping.
  public static func credential(_ path: String..., as key: ItemKey) -> PlaintextMapping {
    PlaintextMapping(path: path, key: key, parse: ItemCoding.credential.parse)
  }

  /// Creates a mapping of JSON, or of text that contains JSON, to a value of a type.
  ///
  /// The JSON is stored unchanged. `Data`, which is Base64 in text and JSON, and `[UInt8]` are stored as
  /// bytes.
  ///
  /// ```swift
  /// let key = ItemKey.value(service: "org.example.app", account: "session")
  /// let mapping = PlaintextMapping.value("session", of: OAuthSession.self, as: key)
  /// ```
  ///
  /// - Parameters:
  ///   - path: The name of the value. In nested JSON, the names on the way to it.
  ///   - type: The type to read the value as.
  ///   - key: The key of the value.
  /// - Returns: The mapping.
  public static func value<Value: Codable & Sendable>(
    _ path: String..., of type: Value.Type, as key: ItemKey
  ) -> PlaintextMapping {
    PlaintextMapping(path: path, key: key, parse: ItemCoding<Value>.value().parse)
  }

  /// Creates a mapping of a value to the item that a closure makes of it.
  ///
  /// - Parameters:
  ///   - path: The names on the way to the value.
  ///   - key: The key of the item.
  ///   - convert: The closure that gets the text or the JSON of the value, and returns the item, or `nil` if
  ///     the value has another type. It must return the same item each time.
  public init(
    path: [String], as key: ItemKey, convert: @escaping @Sendable (Secret) -> SecureItem?
  ) {
    self.init(path: path, key: key) { value, item in
      let found =
        switch value {
        case .text(let secret), .bytes(let secret), .json(let secret): convert(secret)
        }
      guard let found, found.key == item.key else { return false }
      item = found
      return true
    }
  }

  init(
    path: [String], key: ItemKey,
    parse: @escaping @Sendable (ExternalValue, inout SecureItem) -> Bool
  ) {
    (self.path, self.key, self.parse) = (path, key, parse)
  }

  /// The name of the value, for messages.
  var name: String { "\"\(path.joined(separator: "."))\"" }

  /// Returns the item that a value becomes, or `nil` if the value has another type.
  func item(_ value: ExternalValue) -> SecureItem? {
    var item = SecureItem(key: key)
    return parse(value, &item) ? item : nil
  }
}
