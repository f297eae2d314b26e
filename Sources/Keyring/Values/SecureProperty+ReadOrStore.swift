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
      try await stored.storeFirst { () async throws(SecureStorageError) in try generate() }
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
    try await stored.takeOver()
    let storage = stored.chosenStorage.storage
    if let value = try await storage.value(for: stored.currentKey, as: stored.coding) {
      stored.failures.readSucceeded()
      return value
    }
    return try await stored.storeFirst(generate)
  }
}

extension StoredValue {
  /// Stores a first value unless there is one by now, and returns the one that is stored then.
  fileprivate nonisolated(nonsending) func storeFirst(
    _ generate: () async throws(SecureStorageError) -> Value
  ) async throws(SecureStorageError) -> Value {
    var change: TrackedItems.Change?
    defer { change?.end() }
    let value = try await chosenStorage.storage.storeFirst(currentKey, as: coding) {
      () async throws(SecureStorageError) in
      let value = try await generate()
      change = beginChange()
      return value
    }
    failures.readSucceeded()
    return value
  }
}
