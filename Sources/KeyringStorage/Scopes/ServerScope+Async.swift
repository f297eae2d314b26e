// SPDX-License-Identifier: Apache-2.0

// Asynchronous overloads of the scope's operations.

extension ServerScope {
  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func password(for account: String) async throws(SecureStorageError)
    -> String?
  {
    try await storage.password(for: key(account))
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
    try await storage.setPassword(password, for: key(account), mode: mode)
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
    try await storage.remove(key(account))
  }

  /// Lists the accounts that have a password on the server, in alphabetical order.
  ///
  /// - Returns: The accounts, without the accounts at another port or path of the same host.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func accounts() async throws(SecureStorageError) -> [String] {
    try await accounts(storage.items(matching: query))
  }

  /// Removes every password that has the specified parts of the server.
  ///
  /// Like the synchronous form, it also removes the passwords of other programs.
  ///
  /// - Returns: The number of passwords that were removed.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. Passwords
  ///   may have been removed by then.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> Int {
    try await storage.removeItems(matching: query)
  }
}
