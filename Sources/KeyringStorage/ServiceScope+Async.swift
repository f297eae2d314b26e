// The asynchronous twins of the scope's operations.

extension ServiceScope {
  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func password(for account: String) async throws(SecureStorageError) -> String? {
    try await storage.offThread(.read) { () throws(SecureStorageError) in try password(for: account)
    }
  }

  /// Stores the password of an account.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes it.
  ///   - account: The account.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  public func setPassword(
    _ password: String?, for account: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.offThread(.save) { () throws(SecureStorageError) in
      try setPassword(password, for: account, mode)
    }
  }

  /// Removes the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: Whether there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  @discardableResult
  public func removePassword(for account: String) async throws(SecureStorageError) -> Bool {
    try await storage.offThread(.remove) { () throws(SecureStorageError) in
      try removePassword(for: account)
    }
  }

  /// Lists the accounts that have a password, in alphabetical order.
  ///
  /// - Returns: The accounts.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func accounts() async throws(SecureStorageError) -> [String] {
    try await storage.offThread(.read) { () throws(SecureStorageError) in try accounts() }
  }

  /// Reads a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: The credential, or `nil` when there is none.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func credential(labeled label: String) async throws(SecureStorageError) -> Credential? {
    try await storage.offThread(.read) { () throws(SecureStorageError) in
      try credential(labeled: label)
    }
  }

  /// Stores a credential.
  ///
  /// - Parameters:
  ///   - credential: Login and password; `nil` removes them.
  ///   - label: The name of the credential.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  public func setCredential(
    _ credential: Credential?, labeled label: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.offThread(.save) { () throws(SecureStorageError) in
      try setCredential(credential, labeled: label, mode)
    }
  }

  /// Lists the names of the credentials, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func credentialLabels() async throws(SecureStorageError) -> [String] {
    try await storage.offThread(.read) { () throws(SecureStorageError) in try credentialLabels() }
  }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - account: The name of the value.
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type, for account: String
  ) async throws(SecureStorageError) -> Value? {
    try await storage.offThread(.read) { () throws(SecureStorageError) in
      try value(type, for: account)
    }
  }

  /// Stores a value.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes it.
  ///   - account: The name of the value.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  public func setValue<Value: Codable & Sendable>(
    _ value: Value?, for account: String, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await storage.offThread(.save) { () throws(SecureStorageError) in
      try setValue(value, for: account, mode)
    }
  }

  /// Removes every item of the service, those of other programs as well, as the synchronous operation
  /// does.
  ///
  /// - Returns: How many items were removed.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  @discardableResult
  public func removeAll() async throws(SecureStorageError) -> Int {
    try await storage.offThread(.remove) { () throws(SecureStorageError) in try removeAll() }
  }

  /// Removes a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: Whether there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  @discardableResult
  public func removeCredential(labeled label: String) async throws(SecureStorageError) -> Bool {
    try await storage.offThread(.remove) { () throws(SecureStorageError) in
      try removeCredential(labeled: label)
    }
  }

  /// Removes a value.
  ///
  /// - Parameter account: The name of the value.
  /// - Returns: Whether there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  @discardableResult
  public func removeValue(for account: String) async throws(SecureStorageError) -> Bool {
    try await storage.offThread(.remove) { () throws(SecureStorageError) in
      try removeValue(for: account)
    }
  }

  /// Lists the names of the values, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func valueAccounts() async throws(SecureStorageError) -> [String] {
    try await storage.offThread(.read) { () throws(SecureStorageError) in try valueAccounts() }
  }
}
