#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a value is kept in an item: which parts of the item hold it.
///
/// One of these for each kind of value is all that a property wrapper or a typed accessor needs.
@usableFromInline
package struct ItemCoding<Value: Sendable>: Sendable {
  /// What of an item to fetch in order to decode it.
  @usableFromInline
  package let details: ItemQuery.Details
  /// Throws whatever keeps the value from being encoded.
  let encode: @Sendable (Value, inout SecureItem) throws -> Void
  /// Makes a value of the secret and the attributes, which are there if ``details`` has them; answers
  /// `nil` when the item holds something else.
  @usableFromInline
  package let decode: @Sendable (Secret, [String: String]?) -> Value?
  /// Makes an item of a plaintext value; answers `false` when that is of another type.
  let adopt: @Sendable (PlaintextValue, inout SecureItem) -> Bool
}

extension ItemCoding {
  /// Decodes an item.
  ///
  /// - Parameters:
  ///   - item: The item, with all ``details``.
  ///   - backendName: The storage that it comes from.
  /// - Returns: The value.
  /// - Throws: `.undecodable` when the item holds something else.
  @inlinable
  package func value(
    of item: borrowing SecureItem, from backendName: @autoclosure () -> String
  ) throws(SecureStorageError) -> Value {
    if let secret = item.secret, let value = decode(secret, item.attributes) { return value }
    throw SecureStorageError(.undecodable, operation: .read, backend: backendName())
  }

  /// Reads the value stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - storage: The storage.
  /// - Returns: The value, or `nil` when there is no such item.
  /// - Throws: `.undecodable`, or another error if the storage can't be read.
  // Inlined, so that it is compiled for the type of the value wherever that is known.
  @inlinable @inline(__always)
  package func value(
    for key: ItemKey, from storage: some SecureStorage
  ) throws(SecureStorageError) -> Value? {
    guard details == .secret else {
      guard let item = try storage.item(for: key, details: details) else { return nil }
      return try value(of: item, from: storage.backendName)
    }
    guard let secret = try storage.secret(for: key) else { return nil }
    if let value = decode(secret, nil) { return value }
    throw SecureStorageError(.undecodable, operation: .read, backend: storage.backendName)
  }
}

extension ItemCoding<Secret> {
  /// The secret as it is.
  package static let secret = ItemCoding(
    details: .secret,
    encode: { $1.secret = $0 },
    decode: { secret, _ in secret },
    adopt: { value, item in
      item.secret = value.text
      return item.secret != nil
    })
}

extension ItemCoding<String> {
  /// Text in the secret, as UTF-8.
  package static let text = ItemCoding(
    details: .secret,
    encode: { $1.secret = Secret($0) },
    decode: { secret, _ in secret.text },
    adopt: ItemCoding<Secret>.secret.adopt)
}

extension ItemCoding<Credential> {
  /// The password in the secret, the login in the attribute "username".
  package static let credential = ItemCoding(
    details: .all,
    encode: { credential, item in
      item.secret = credential.secret
      item.attributes = [AttributeName.username: credential.login]
    },
    decode: { secret, attributes in
      Credential(login: attributes?[AttributeName.username] ?? "", secret: secret)
    },
    adopt: { value, item in
      guard let found = value.json(as: PlaintextCredential.self)?.value else { return false }
      item.secret = Secret(found.password)
      item.attributes = [AttributeName.username: found.login]
      return true
    })
}

extension ItemCoding where Value: Codable {
  /// JSON in the secret; `Data` and `[UInt8]` as their own bytes.
  package static var value: ItemCoding {
    // By the type and not by overloads, so that generic code stores bytes as bytes too.
    switch Value.self {
    case is Data.Type:
      ItemCoding(
        details: .secret,
        encode: { $1.secret = ($0 as? Data).map { Secret(bytes: $0) } },
        decode: { secret, _ in secret.withUnsafeBytes { Data($0) as? Value } },
        adopt: { value, item in
          item.secret = value.bytes { (data: Data) in Secret(bytes: data) }
          return item.secret != nil
        })
    case is [UInt8].Type:
      ItemCoding(
        details: .secret,
        encode: { $1.secret = ($0 as? [UInt8]).map { Secret(bytes: $0) } },
        decode: { secret, _ in secret.withUnsafeBytes { Array($0) as? Value } },
        adopt: { value, item in
          item.secret = value.bytes { (bytes: [UInt8]) in Secret(bytes: bytes) }
          return item.secret != nil
        })
    default: json
    }
  }

  private static var json: ItemCoding {
    ItemCoding(
      details: .secret,
      encode: { value, item in
        var data = try JSONEncoder().encode(value)
        item.secret = data.takenAsJSON()
      },
      decode: { secret, _ in
        var data = secret.withUnsafeBytes { Data($0) }
        defer { data.resetBytes(in: data.indices) }
        // What the decoder says could quote the secret; that it failed is all there is to tell.
        return try? JSONDecoder().decode(Value.self, from: data)
      },
      adopt: { value, item in
        // As it is: encoded again it would be other bytes each time, and less than was there.
        guard let json = value.json(as: Value.self)?.json else { return false }
        var data = json.withUnsafeBytes { Data($0) }
        item.secret = data.takenAsJSON()
        return true
      })
  }
}

extension SecureStorage {
  /// Reads the value stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: How the value is kept in the item.
  /// - Returns: The value, or `nil` when there is no such item.
  /// - Throws: `.undecodable`, or another error if the storage can't be read.
  package func value<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>
  ) throws(SecureStorageError) -> Value? {
    try coding.value(for: key, from: self)
  }

  /// Stores a value under a key, or removes the item.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - coding: How the value is kept in the item.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  package func setValue<Value>(
    _ value: Value?, for key: ItemKey, as coding: ItemCoding<Value>,
    _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    guard let value else {
      try remove(key)
      return
    }
    try save(item(for: key, as: coding, value), mode)
  }

  /// Reads the value stored under a key, and suspends its task while it waits.
  package nonisolated(nonsending) func value<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>
  ) async throws(SecureStorageError) -> Value? {
    guard let item = try await item(for: key, details: coding.details) else { return nil }
    return try coding.value(of: item, from: backendName)
  }

  /// Stores a value under a key, or removes the item, and suspends its task while it waits.
  package nonisolated(nonsending) func setValue<Value>(
    _ value: Value?, for key: ItemKey, as coding: ItemCoding<Value>,
    _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    guard let value else {
      try await remove(key)
      return
    }
    try await save(item(for: key, as: coding, value), mode)
  }

  private func item<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>, _ value: Value
  ) throws(SecureStorageError) -> SecureItem {
    var item = SecureItem(key: key)
    do {
      try coding.encode(value, &item)
    } catch {
      // The encoder's own words could quote the value.
      throw SecureStorageError(
        .invalidArgument, operation: .save, backend: backendName,
        message: "The value cannot be encoded as JSON.", argument: "value")
    }
    return item
  }
}

extension PlaintextValue {
  /// Bytes as they are, or what JSON has for them.
  fileprivate func bytes<Bytes: Decodable>(_ secret: (Bytes) -> Secret) -> Secret? {
    if case .bytes(let bytes) = self { return bytes }
    return (json(as: Bytes.self)?.value).map(secret)
  }
}

extension Data {
  /// The secret that the JSON is kept as; what it was made from is overwritten.
  fileprivate mutating func takenAsJSON() -> Secret {
    var json = withNumericEscapes()
    defer {
      resetBytes(in: indices)
      json.resetBytes(in: json.indices)
    }
    return Secret(bytes: json)
  }

  /// The same JSON with `\u000a` for `\n`, and so on.
  ///
  /// gnome-keyring (42 to 50) keeps a collection without a password in a text file, and takes these
  /// escapes of ours for its own when it reads that.
  fileprivate func withNumericEscapes() -> Data {
    // Enough for all, so that no copy is left behind.
    var result = Data(capacity: count * 3)
    var bytes = makeIterator()
    while let byte = bytes.next() {
      result.append(byte)
      guard byte == UInt8(ascii: "\\"), let escaped = bytes.next() else { continue }
      switch escaped {
      case UInt8(ascii: "n"): result.append(contentsOf: "u000a".utf8)
      case UInt8(ascii: "r"): result.append(contentsOf: "u000d".utf8)
      case UInt8(ascii: "t"): result.append(contentsOf: "u0009".utf8)
      case UInt8(ascii: "\\"): result.append(contentsOf: "u005c".utf8)
      default: result.append(escaped)
      }
    }
    return result
  }
}
