// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

/// A conversion between values of a type and the items that hold them.
///
/// Passwords, secrets, credentials, bytes and codable values have one each: ``text``, ``secret``, ``credential``,
/// ``data`` and ``value(_:)``. Create one for any other type:
///
/// ```swift
/// struct Fingerprint: Sendable { var bytes: [UInt8] }
///
/// let coding = ItemCoding<Fingerprint>(
///   encode: { Secret(bytes: $0.bytes) },
///   decode: { Fingerprint(bytes: $0.withUnsafeBytes { Array($0) }) })
/// ```
public struct ItemCoding<Value: Sendable>: Sendable {
  /// The parts of an item that decoding needs.
  @usableFromInline
  package let details: ItemQuery.Details
  /// A closure that stores a value in an item, or throws the encoder's error.
  let encode: @Sendable (Value, inout SecureItem) throws -> Void
  /// A closure that creates a value from a secret and attributes.
  ///
  /// The attributes are those that ``details`` includes. The closure returns `nil` for an item with another
  /// kind of value.
  @usableFromInline
  package let decode: @Sendable (Secret, [String: String]?) -> Value?
  /// A closure that stores an external value in an item, or returns `false` for a value of another type.
  package let parse: @Sendable (ExternalValue, inout SecureItem) -> Bool
  /// A closure that returns the time at which a value expires, for values that know it.
  package var expires: (@Sendable (Value) -> Date?)?
}

extension ItemCoding {
  /// Creates a coding that keeps each value in the secret of an item.
  ///
  /// - Parameters:
  ///   - encode: The closure that makes a secret of a value. An error makes the write throw
  ///     `.invalidArgument`.
  ///   - decode: The closure that makes a value of a secret. With `nil`, the read throws `.undecodable`.
  public init(
    encode: @escaping @Sendable (Value) throws -> Secret,
    decode: @escaping @Sendable (Secret) -> Value?
  ) {
    self.init(
      details: .secret,
      encode: { $1.secret = try encode($0) },
      decode: { secret, _ in decode(secret) },
      parse: { value, item in
        item.secret = value.text
        return item.secret.flatMap(decode) != nil
      })
  }

  /// Creates a coding that keeps each value in the secret and the attributes of an item.
  ///
  /// - Parameters:
  ///   - encode: The closure that sets the secret and attributes of an item. An error makes the write throw
  ///     `.invalidArgument`.
  ///   - decode: The closure that makes a value of a secret and attributes. With `nil`, the read throws `.undecodable`.
  public init(
    encode: @escaping @Sendable (Value, inout SecureItem) throws -> Void,
    decode: @escaping @Sendable (Secret, [String: String]) -> Value?
  ) {
    self.init(
      details: .all, encode: encode, decode: { decode($0, $1 ?? [:]) },
      parse: { value, item in
        item.secret = value.text
        return item.secret.flatMap { decode($0, [:]) } != nil
      })
  }

  /// Returns the same coding for values that expire some time after each write.
  ///
  /// ```swift
  /// let session = storage[key, as: .text.expiring(after: .seconds(3600))]
  /// ```
  ///
  /// - Parameter lifetime: The time between a write and the expiry, or `nil` for values that don't expire.
  /// - Returns: The coding.
  public func expiring(after lifetime: Duration?) -> ItemCoding {
    // A migration moves values without a time: a second run would take them for others.
    guard let lifetime else { return self }
    return ItemCoding(
      details: details,
      encode: { [encode] value, item in
        try encode(value, &item)
        item.expires = CurrentDate.now + lifetime / .seconds(1)
      },
      decode: decode, parse: parse)
  }

  /// Returns the same coding for values that know when they expire.
  ///
  /// ```swift
  /// let tokens = storage[key, as: .value(Tokens.self).expiring(at: \.expires)]
  /// ```
  ///
  /// - Parameter expires: The closure that returns the time at which a value expires, or `nil` for one that doesn't.
  /// - Returns: The coding.
  public func expiring(at expires: (@Sendable (Value) -> Date?)?) -> ItemCoding {
    guard let expires else { return self }
    return ItemCoding(
      details: details,
      encode: { [encode] value, item in
        try encode(value, &item)
        item.expires = expires(value)
      },
      decode: decode, parse: parse, expires: expires)
  }

  /// Decodes the value of an item.
  ///
  /// - Parameters:
  ///   - item: The item, with all ``details``.
  ///   - backendName: The name of the storage that returned the item.
  /// - Returns: The value.
  /// - Throws: `.undecodable` for an item with another kind of value.
  @inlinable
  package func value(
    of item: borrowing SecureItem, from backendName: @autoclosure () -> String
  ) throws(SecureStorageError) -> Value {
    if let secret = item.secret, let value = decode(secret, item.attributes) { return value }
    throw SecureStorageError(
      .undecodable, operation: .read, backendName: backendName(), message: Self.undecodable)
  }

  /// The message for an item with another kind of value, or `nil` for the usual one.
  @usableFromInline
  static var undecodable: String? {
    Value.self == String.self ? "The stored password isn't text in UTF-8." : nil
  }
}

extension ItemCoding<Secret> {
  /// A coding that keeps a secret unchanged.
  public static let secret = ItemCoding(
    details: .secret,
    encode: { $1.secret = $0 },
    decode: { secret, _ in secret },
    parse: { value, item in
      item.secret = value.text
      return item.secret != nil
    })
}

extension ItemCoding<String> {
  /// A coding that keeps text in the secret, as UTF-8.
  public static let text = ItemCoding(
    details: .secret,
    encode: { $1.secret = Secret($0) },
    decode: { secret, _ in secret.text },
    parse: ItemCoding<Secret>.secret.parse)
}

extension ItemCoding<Data> {
  /// A coding that keeps bytes unchanged.
  ///
  /// ```swift
  /// let session = try storage[key, as: .data].read()
  /// ```
  public static let data = value()
}

extension ItemCoding<Credential> {
  /// A coding that keeps the password in the secret and the login in the attribute "username".
  public static let credential = ItemCoding(
    details: .all,
    encode: { credential, item in
      item.secret = credential.secret
      item.attributes = [AttributeName.username: credential.login]
    },
    decode: { secret, attributes in
      Credential(login: attributes?[AttributeName.username] ?? "", secret: secret)
    },
    parse: { value, item in
      guard let found = value.json(as: ExternalCredential.self)?.value else { return false }
      item.secret = Secret(found.password)
      item.attributes = [AttributeName.username: found.login]
      return true
    })
}

extension ItemCoding where Value: Codable {
  /// Returns a coding that keeps a value in the secret, as JSON.
  ///
  /// `Data` and `[UInt8]` are kept as their own bytes.
  ///
  /// ```swift
  /// let session = try storage[key, as: .value(Session.self)].read()
  /// ```
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The coding.
  public static func value(_ type: Value.Type = Value.self) -> ItemCoding {
    // A switch over the type instead of overloads, so that generic code stores bytes as bytes, too.
    switch Value.self {
    case is Data.Type: bytes(Data.self)
    case is [UInt8].Type: bytes([UInt8].self)
    default: json
    }
  }

  private static func bytes<Bytes: RangeReplaceableCollection<UInt8> & Decodable & Sendable>(
    _: Bytes.Type
  ) -> ItemCoding {
    ItemCoding(
      details: .secret,
      encode: { $1.secret = ($0 as? Bytes).map { Secret(bytes: $0) } },
      decode: { secret, _ in unsafe secret.withUnsafeBytes { unsafe Bytes($0) as? Value } },
      parse: { value, item in
        item.secret =
          if case .bytes(let bytes) = value { bytes } else {
            value.json(as: Bytes.self).map { Secret(bytes: $0.value) }
          }
        return item.secret != nil
      })
  }

  private static var json: ItemCoding {
    ItemCoding(
      details: .secret,
      encode: { value, item in item.secret = try Secret(encoding: value) },
      decode: { secret, _ in secret.decoded(as: Value.self) },
      parse: { value, item in
        // Keeps the JSON as it is. Encoding it again would give different bytes each time, and would lose
        // members that the type doesn't have.
        item.secret = value.json(as: Value.self)?.json
        return item.secret != nil
      })
  }
}
