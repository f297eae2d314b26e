public import KeyringStorage

// The asynchronous twins: they never block the task's thread, and end when the task is cancelled.

extension SecureProperties {
  /// Reads all properties: those that have no storage of their own in one search and one fetch.
  ///
  /// - Returns: The values.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func readAll() async throws(SecureStorageError) -> SecureValues {
    try await offThread(.read) { (properties) throws(SecureStorageError) in
      try properties.readAll()
    }
  }

  /// Removes all items, those that can be even when others cannot.
  ///
  /// - Returns: How many items were removed.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  @discardableResult
  public func removeAll() async throws(SecureStorageError) -> Int {
    try await offThread(.remove) { (properties) throws(SecureStorageError) in
      try properties.removeAll()
    }
  }

  /// Copies all items to another storage, under the same keys, with label and attributes.
  ///
  /// - Parameters:
  ///   - storage: Where to.
  ///   - mode: What to do about an item that is there already; with `.add` the copy stops at it.
  /// - Returns: How many items were copied.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  @discardableResult
  public func copy(
    to storage: any SecureStorage, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) -> Int {
    try await offThread(.save) { (properties) throws(SecureStorageError) in
      try properties.copy(to: storage, mode)
    }
  }

  private func offThread<Result: Sendable>(
    _ operation: SecureStorageError.Operation,
    _ body: @escaping @Sendable (Self) throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let properties = resolved
    return try await SecureStorageDefaults.storageInForce.offThread(operation) {
      () throws(SecureStorageError) in
      try body(properties)
    }
  }
}
