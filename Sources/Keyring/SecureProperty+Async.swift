public import KeyringStorage

// The asynchronous twins: they never block the task's thread, and end when the task is cancelled.

extension SecureProperty {
  /// Reads the value.
  ///
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func read() async throws(SecureStorageError) -> Value? {
    try await offThread(.read) { (property) throws(SecureStorageError) in try property.read() }
  }

  /// Stores a value in place of the one that is there, if any.
  ///
  /// - Parameter value: The value; `nil` removes the item.
  /// - Throws: What the synchronous operation throws, and `.canceled`, stored or not.
  public func write(_ value: Value?) async throws(SecureStorageError) {
    try await offThread(.save) { (property) throws(SecureStorageError) in
      try property.write(value)
    }
  }

  /// Removes the item.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`, removed or not.
  @discardableResult
  public func remove() async throws(SecureStorageError) -> Bool {
    try await offThread(.remove) { (property) throws(SecureStorageError) in
      try property.remove()
    }
  }

  /// Tells whether there is a value, without fetching it.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func exists() async throws(SecureStorageError) -> Bool {
    try await offThread(.read) { (property) throws(SecureStorageError) in
      try property.exists()
    }
  }

  /// Runs an operation elsewhere on what the property stands for here and now: the task's override
  /// is not known on another thread.
  private func offThread<Result: Sendable>(
    _ operation: SecureStorageError.Operation,
    _ body: @escaping @Sendable (Self) throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let property = resolved
    return try await property.storage.offThread(operation) { () throws(SecureStorageError) in
      try body(property)
    }
  }
}
