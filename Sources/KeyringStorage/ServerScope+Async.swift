// The asynchronous overloads of the scope's operations.

extension ServerScope {
  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func password(for account: String) async throws(SecureStorageError)
    -> String?
  {
    try await storage.password(for: key(account))
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
    try await storage.setPassword(password, for: key(account), mode)
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
    try await storage.remove(key(account))
  }

  /// Lists the accounts that have a password, in alphabetical order.
  ///
  /// - Returns: The accounts.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func accounts() async throws(SecureStorageError) -> [String] {
    try await accounts(storage.items(matching: query))
  }

  /// Removes every password that has the parts of ``server`` which are given, those of other programs as
  /// well, as the synchronous operation does.
  ///
  /// - Returns: The number of items that were removed.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> Int {
    try await storage.removeItems(matching: query)
  }
}
