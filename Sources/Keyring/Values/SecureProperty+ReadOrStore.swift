// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage

// The synchronous overload is disfavored. Otherwise, an `await` would select it if the closure doesn't suspend.

extension SecureProperty {
  /// Reads the value, or generates and stores a missing one.
  ///
  /// All programs that call this at the same moment get the same value. A value that has expired is still
  /// returned.
  ///
  /// ```swift
  /// let key = try settings.$authToken.readOrStore { UUID().uuidString }
  /// ```
  ///
  /// - Parameter generate: The closure that makes a missing value. It's called once at most.
  /// - Returns: The value that is stored.
  /// - Throws: `SecureStorageError` for a failed read or write. After a failed read, as of a locked keyring, nothing is
  ///   generated.
  @_disfavoredOverload
  public func readOrStore(
    _ generate: () throws(SecureStorageError) -> Stored
  ) throws(SecureStorageError) -> Stored {
    let stored = projectedValue
    stored.noteRead()
    try stored.takeOver()
    // Most calls find a value, and need no task.
    if let value = try stored.chosenStorage.storage.value(for: stored.currentKey, as: stored.coding)
    {
      stored.failures.readSucceeded()
      return value
    }
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await readOrStore { () async throws(SecureStorageError) in try generate() }
    }
  }
}

extension SecureProperty {
  /// Reads the value, or generates and stores a missing one, asynchronously.
  ///
  /// ```swift
  /// let token = try await settings.$authToken.readOrStore { UUID().uuidString }
  /// ```
  ///
  /// - Parameter generate: The closure that makes a missing value. It's called once at most.
  /// - Returns: The value that is stored.
  /// - Throws: `SecureStorageError` for a failed read or write, or `.canceled` for a cancelled task. In that case, the
  ///   new value may have been stored.
  public nonisolated(nonsending) func readOrStore(
    _ generate: () async throws(SecureStorageError) -> Stored
  ) async throws(SecureStorageError) -> Stored {
    let stored = projectedValue
    var change: TrackedItems.Change?
    defer { change?.end() }
    try await stored.takeOver()
    let value = try await stored.chosenStorage.storage.readOrStore(
      stored.currentKey, as: stored.coding
    ) {
      () async throws(SecureStorageError) in
      let value = try await generate()
      change = stored.beginChange()
      return value
    }
    stored.failures.readSucceeded()
    return value
  }
}
