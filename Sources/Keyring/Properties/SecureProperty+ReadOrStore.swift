// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

// The synchronous overload is disfavored. Otherwise, an `await` would select it if the closure doesn't suspend.

extension SecureProperty {
  /// Reads the value, or stores a new one if there is none.
  ///
  /// All programs that call this at the same moment get the same value. A value that has expired is still
  /// returned.
  ///
  /// ```swift
  /// let key = try settings.$authToken.readOrStore { UUID().uuidString }
  /// ```
  ///
  /// - Parameter generate: The closure that makes the value if none is stored. It's called once at most.
  /// - Returns: The value that is stored.
  /// - Throws: `SecureStorageError` if the storage can't be read or written. If it can't be read, for example because
  ///   it's locked, nothing is generated.
  @_disfavoredOverload
  public func readOrStore(
    _ generate: () throws(SecureStorageError) -> Value
  ) throws(SecureStorageError) -> Value {
    noteRead()
    // Most calls change nothing.
    var change: TrackedItems.Change?
    defer { change?.end() }
    try takeOver()
    let value = try storage.readOrStore(key, as: coding) { () throws(SecureStorageError) in
      let value = try generate()
      change = beginChange()
      return value
    }
    failures.readSucceeded()
    return value
  }
}

extension SecureProperty {
  /// Reads the value, or stores a new one if there is none, without blocking the task's thread.
  ///
  /// - Parameter generate: The closure that makes the value if none is stored. It's called once at most.
  /// - Returns: The value that is stored.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the new value may have been stored.
  public nonisolated(nonsending) func readOrStore(
    _ generate: () async throws(SecureStorageError) -> Value
  ) async throws(SecureStorageError) -> Value {
    var change: TrackedItems.Change?
    defer { change?.end() }
    try await takeOver()
    let value = try await storage.readOrStore(key, as: coding) {
      () async throws(SecureStorageError) in
      let value = try await generate()
      change = beginChange()
      return value
    }
    failures.readSucceeded()
    return value
  }
}
