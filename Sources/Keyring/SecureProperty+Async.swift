public import KeyringStorage

// The asynchronous overloads: they never block the task's thread, and end when the task is cancelled.

extension SecureProperty {
  /// Reads the value.
  ///
  /// - Returns: The value, or `nil` when there is none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func read() async throws(SecureStorageError) -> Value? {
    let property = resolved
    let value = try await property.storage.value(for: property.key, as: coding)
    readSucceeded()
    return value
  }

  /// Stores a value in place of the one that is there, if any.
  ///
  /// - Parameter value: The value; `nil` removes the item.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled; the change
  ///   may have been made.
  public nonisolated(nonsending) func write(_ value: Value?) async throws(SecureStorageError) {
    let property = resolved
    try await property.storage.setValue(value, for: property.key, as: coding)
    writeSucceeded()
  }

  /// Removes the item.
  ///
  /// - Returns: `true` if there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`, removed or not.
  @discardableResult
  public nonisolated(nonsending) func remove() async throws(SecureStorageError) -> Bool {
    let property = resolved
    let wasThere = try await property.storage.remove(property.key)
    writeSucceeded()
    return wasThere
  }

  /// Tells whether there is a value, without fetching it.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func exists() async throws(SecureStorageError) -> Bool {
    let property = resolved
    return try await property.storage.exists(property.key)
  }
}
