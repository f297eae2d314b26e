// SPDX-License-Identifier: Apache-2.0

// Asynchronous overloads of the scope's operations.

extension ServiceScope {
  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func password(for account: String) async throws(SecureStorageError)
    -> String?
  {
    try await storage.password(for: passwordKey(account))
  }

  /// Stores the password of an account, or removes it.
  ///
  /// - Parameters:
  ///   - password: The password, or `nil` to remove it.
  ///   - account: The account.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  public nonisolated(nonsending) func setPassword(
    _ password: String?, for account: String, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setPassword(password, for: passwordKey(account), mode: mode)
  }

  /// Removes the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  @discardableResult
  public nonisolated(nonsending) func removePassword(for account: String)
    async throws(SecureStorageError) -> Bool
  {
    try await storage.remove(passwordKey(account))
  }

  /// Lists the accounts that have a password, in alphabetical order.
  ///
  /// - Returns: The accounts.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func accounts() async throws(SecureStorageError) -> [String] {
    try await accounts(storage.items(matching: query(.password)))
  }

  /// Reads a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func credential(labeled label: String)
    async throws(SecureStorageError) -> Credential?
  {
    try await storage.credential(for: .credentials(service: service, label: label))
  }

  /// Stores a credential, or removes it.
  ///
  /// - Parameters:
  ///   - credential: The login and the password, or `nil` to remove them.
  ///   - label: The name of the credential.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  public nonisolated(nonsending) func setCredential(
    _ credential: Credential?, labeled label: String, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setCredential(
      credential, for: .credentials(service: service, label: label), mode: mode)
  }

  /// Lists the names of the credentials, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func credentialLabels() async throws(SecureStorageError)
    -> [String]
  {
    try await labels(storage.items(matching: .service(service, kind: .credentials)))
  }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - account: The name of the value.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func value<Value: Codable & Sendable>(
    _ type: Value.Type, for account: String
  ) async throws(SecureStorageError) -> Value? {
    try await storage.value(type, for: valueKey(account))
  }

  /// Stores a value, or removes it.
  ///
  /// - Parameters:
  ///   - value: The value, or `nil` to remove it.
  ///   - account: The name of the value.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  public nonisolated(nonsending) func setValue<Value: Codable & Sendable>(
    _ value: Value?, for account: String, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setValue(value, for: valueKey(account), mode: mode)
  }

  /// Removes all items of the service, regardless of their kind.
  ///
  /// If the scope has an access group, the method removes only the items of that group.
  ///
  /// - Returns: The number of removed items, and the items that were left.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. Items may
  ///   have been removed by then.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> BulkOutcome {
    let count = try await storage.removeItems(matching: query())
    return BulkOutcome(
      count: count, left: foreignKeys(try await storage.items(matching: queryOfAll)))
  }

  /// Removes a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  @discardableResult
  public nonisolated(nonsending) func removeCredential(labeled label: String)
    async throws(SecureStorageError) -> Bool
  {
    try await storage.remove(.credentials(service: service, label: label))
  }

  /// Removes a value.
  ///
  /// - Parameter account: The name of the value.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The change
  ///   may have been made by then.
  @discardableResult
  public nonisolated(nonsending) func removeValue(for account: String)
    async throws(SecureStorageError) -> Bool
  {
    try await storage.remove(valueKey(account))
  }

  /// Lists the names of the values, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func valueAccounts() async throws(SecureStorageError) -> [String] {
    try await accounts(storage.items(matching: query(.value)))
  }
}
