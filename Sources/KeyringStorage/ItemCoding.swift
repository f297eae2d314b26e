/// How a value is kept in an item: which parts of the item hold it.
///
/// One of these for each kind of value is all that a property wrapper or a typed accessor needs.
package struct ItemCoding<Value: Sendable>: Sendable {
  /// What of an item to fetch in order to decode it.
  package let details: ItemQuery.Details
  let encode: @Sendable (Value, inout SecureItem) -> Void
  let decode: @Sendable (SecureItem) -> Value?
}

extension ItemCoding<String> {
  /// Text in the secret, as UTF-8.
  package static let text = ItemCoding(
    details: .secret,
    encode: { $1.secret = Secret($0) },
    decode: { $0.secret?.text })
}

extension ItemCoding<Credential> {
  /// The password in the secret, the login in the attribute "username".
  package static let credential = ItemCoding(
    details: .all,
    encode: { credential, item in
      item.secret = credential.secret
      item.attributes = [AttributeName.username: credential.login]
    },
    decode: { item in
      guard let secret = item.secret else { return nil }
      return Credential(login: item.attributes?[AttributeName.username] ?? "", secret: secret)
    })
}

extension SecureStorage {
  /// Reads the value stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - coding: How the value is kept in the item.
  /// - Returns: The value, or `nil` when there is no such item.
  /// - Throws: `.undecodable`, or any reason for not knowing the answer.
  package func value<Value>(
    for key: ItemKey, as coding: ItemCoding<Value>
  ) throws(SecureStorageError) -> Value? {
    guard let item = try item(for: key, details: coding.details) else { return nil }
    if let value = coding.decode(item) { return value }
    throw SecureStorageError(.undecodable, operation: .read, backend: backendName)
  }

  /// Stores a value under a key, or removes the item.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - coding: How the value is kept in the item.
  /// - Throws: Whatever kept the storage from doing it.
  package func setValue<Value>(
    _ value: Value?, for key: ItemKey, as coding: ItemCoding<Value>
  ) throws(SecureStorageError) {
    guard let value else {
      try remove(key)
      return
    }
    var item = SecureItem(key: key)
    coding.encode(value, &item)
    try save(item, .addOrReplace)
  }
}
