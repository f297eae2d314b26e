// Typed reading and writing of single items. Setting `nil` removes the item.

extension SecureStorage {
  /// Reads a secret as it is.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The secret, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    try secretOfItem(for: key)
  }

  /// The secret of the item, which is found with that.
  func secretOfItem(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    guard let item = try item(for: key, details: .secret) else { return nil }
    return try ItemCoding.secret.value(of: item, from: backendName)
  }

  /// Stores a secret as it is, or removes it.
  ///
  /// - Parameters:
  ///   - secret: The secret; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setSecret(
    _ secret: Secret?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(secret, for: key, as: .secret, mode)
  }

  /// Reads a password.
  ///
  /// - Parameter key: The key of a generic or an internet password.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: `.undecodable` if it isn't text, or another error if the storage can't be read.
  public func password(for key: ItemKey) throws(SecureStorageError) -> String? {
    try value(for: key, as: .text)
  }

  /// Stores a password, or removes it.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes the item.
  ///   - key: The key of a generic or an internet password.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setPassword(
    _ password: String?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(password, for: key, as: .text, mode)
  }

  /// Reads a credential.
  ///
  /// - Parameter key: The key of the credential.
  /// - Returns: The credential, or `nil` when there is none.
  /// - Throws: `.undecodable` if it isn't text, or another error if the storage can't be read.
  public func credential(for key: ItemKey) throws(SecureStorageError) -> Credential? {
    try value(for: key, as: .credential)
  }

  /// Stores a credential, or removes it.
  ///
  /// - Parameters:
  ///   - credential: Login and password; `nil` removes the item.
  ///   - key: The key of the credential.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setCredential(
    _ credential: Credential?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(credential, for: key, as: .credential, mode)
  }

  /// Reads a value: `Data` and `[UInt8]` as the bytes that are stored, anything else from JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key of the item.
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: `.undecodable` when it is not of that type, which leaves it as it is, or any reason
  ///   for not knowing the answer.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type, for key: ItemKey
  ) throws(SecureStorageError) -> Value? {
    try value(for: key, as: .value)
  }

  /// Stores a value, or removes it: `Data` and `[UInt8]` as their own bytes, anything else as JSON.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: `.invalidArgument` when the value cannot be encoded, or whatever kept the storage
  ///   from doing it.
  public func setValue<Value: Codable & Sendable>(
    _ value: Value?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(value, for: key, as: .value, mode)
  }
}
