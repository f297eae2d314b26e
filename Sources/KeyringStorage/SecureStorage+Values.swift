// SPDX-License-Identifier: Apache-2.0

// Methods for single items and their values. Setting `nil` removes the item.

extension SecureStorage {
  /// Returns `true` if an item is stored under a key, without fetching its secret.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: `true` if there is such an item.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func exists(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key, with all of its parts.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The item, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func item(for key: ItemKey) throws(SecureStorageError) -> SecureItem? {
    try item(for: key, details: .all)
  }

  /// Removes the item stored under a key.
  ///
  /// If another program has an item of the same name, the next read finds that one.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if the item can't be removed.
  @discardableResult
  public func remove(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try removeItems(matching: .key(key)) > 0
  }

  /// Stores a secret without encoding it, or removes the item.
  ///
  /// - Parameters:
  ///   - secret: The secret, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setSecret(
    _ secret: Secret?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(secret, for: key, as: .secret, mode: mode)
  }

  /// Reads a password.
  ///
  /// - Parameter key: The key of a generic or an internet password.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: `.undecodable` if the password isn't text, or another error if the storage can't be read.
  public func password(for key: ItemKey) throws(SecureStorageError) -> String? {
    try value(for: key, as: .text)
  }

  /// Stores a password, or removes the item.
  ///
  /// - Parameters:
  ///   - password: The password, or `nil` to remove the item.
  ///   - key: The key of a generic or an internet password.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setPassword(
    _ password: String?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(password, for: key, as: .text, mode: mode)
  }

  /// Reads a credential.
  ///
  /// - Parameter key: The key of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: `.undecodable` if the password isn't text, or another error if the storage can't be read.
  public func credential(for key: ItemKey) throws(SecureStorageError) -> Credential? {
    try value(for: key, as: .credential)
  }

  /// Stores a credential, or removes the item.
  ///
  /// - Parameters:
  ///   - credential: The login and the password, or `nil` to remove the item.
  ///   - key: The key of the credential.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setCredential(
    _ credential: Credential?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(credential, for: key, as: .credential, mode: mode)
  }

  /// Reads a value: `Data` and `[UInt8]` as the stored bytes, and all other types from JSON.
  ///
  /// A value that can't be decoded stays in the storage.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key of the item.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: `.undecodable` if the value isn't of that type, or another error if the storage can't be
  ///   read.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type, for key: ItemKey
  ) throws(SecureStorageError) -> Value? {
    try value(for: key, as: .value)
  }

  /// Stores a value, or removes the item.
  ///
  /// `Data` and `[UInt8]` are stored as their own bytes. All other types are encoded as JSON.
  ///
  /// - Parameters:
  ///   - value: The value, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: `.invalidArgument` if the value can't be encoded, or another error if the storage can't be
  ///   changed.
  public func setValue<Value: Codable & Sendable>(
    _ value: Value?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try setValue(value, for: key, as: .value, mode: mode)
  }
}
