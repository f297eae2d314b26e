// The asynchronous overloads of the scope's operations.

extension ServiceScope {
  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func password(for account: String) async throws(SecureStorageError)
    -> String?
  {
    try await storage.password(for: passwordKey(account))
  }

  /// Stores the password of an account.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes it.
  ///   - account: The account.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setPassword(
    _ password: String?, for account: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setPassword(password, for: passwordKey(account), mode)
  }

  /// Removes the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
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
    try await accounts(.password)
  }

  /// Reads a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: The credential, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func credential(labeled label: String)
    async throws(SecureStorageError) -> Credential?
  {
    try await storage.credential(for: .credentials(service: service, label: label))
  }

  /// Stores a credential.
  ///
  /// - Parameters:
  ///   - credential: Login and password; `nil` removes them.
  ///   - label: The name of the credential.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setCredential(
    _ credential: Credential?, labeled label: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setCredential(
      credential, for: .credentials(service: service, label: label), mode)
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
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func value<Value: Codable & Sendable>(
    _ type: Value.Type, for account: String
  ) async throws(SecureStorageError) -> Value? {
    try await storage.value(type, for: valueKey(account))
  }

  /// Stores a value.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes it.
  ///   - account: The name of the value.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func setValue<Value: Codable & Sendable>(
    _ value: Value?, for account: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.setValue(value, for: valueKey(account), mode)
  }

  /// Removes every item of the service, those of other programs as well, as the synchronous operation
  /// does.
  ///
  /// - Returns: The number of items that were removed.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> Int {
    try await storage.removeItems(matching: ItemQuery(attributes: attributes))
  }

  /// Removes a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
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
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
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
    try await accounts(.value)
  }

  private nonisolated(nonsending) func accounts(_ kind: ItemKind) async throws(SecureStorageError)
    -> [String]
  {
    try await accounts(
      storage.items(matching: ItemQuery(kind: kind, attributes: attributes)))
  }
}
