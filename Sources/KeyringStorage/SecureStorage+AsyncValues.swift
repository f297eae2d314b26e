// The asynchronous overloads of what reads and stores single items.

extension SecureStorage {
  /// Tells whether an item is stored under a key.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: Whether there is such an item.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func exists(_ key: ItemKey) async throws(SecureStorageError)
    -> Bool
  {
    try await item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func item(
    for key: ItemKey, details: ItemQuery.Details = .all
  ) async throws(SecureStorageError) -> SecureItem? {
    try await itemsWithoutBlocking(for: [key], details: details)[key]
  }

  /// Removes the item stored under a key.
  ///
  /// The Secret Service has items of other programs, too. One of the same names is found under the key
  /// while none of this package's is there. So a read may find it after a removal, and another removal
  /// takes it.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  @discardableResult
  public nonisolated(nonsending) func remove(_ key: ItemKey) async throws(SecureStorageError)
    -> Bool
  {
    try await removeItemsWithoutBlocking(matching: .key(key)) > 0
  }

  /// Reads a secret as it is.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The secret, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func secret(for key: ItemKey) async throws(SecureStorageError)
    -> Secret?
  {
    try await value(for: key, as: .secret)
  }

  /// Stores a secret as it is, or removes it.
  ///
  /// - Parameters:
  ///   - secret: The secret; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setSecret(
    _ secret: Secret?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(secret, for: key, as: .secret, mode)
  }

  /// Reads a password.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func password(for key: ItemKey) async throws(SecureStorageError)
    -> String?
  {
    try await value(for: key, as: .text)
  }

  /// Stores a password, or removes it.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setPassword(
    _ password: String?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(password, for: key, as: .text, mode)
  }

  /// Reads a credential.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The credential, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func credential(for key: ItemKey) async throws(SecureStorageError)
    -> Credential?
  {
    try await value(for: key, as: .credential)
  }

  /// Stores a credential, or removes it.
  ///
  /// - Parameters:
  ///   - credential: The credential; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setCredential(
    _ credential: Credential?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(credential, for: key, as: .credential, mode)
  }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key of the item.
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func value<Value: Codable & Sendable>(
    _ type: Value.Type, for key: ItemKey
  ) async throws(SecureStorageError) -> Value? {
    try await value(for: key, as: .value)
  }

  /// Stores a value, or removes it.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setValue<Value: Codable & Sendable>(
    _ value: Value?, for key: ItemKey, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(value, for: key, as: .value, mode)
  }
}
