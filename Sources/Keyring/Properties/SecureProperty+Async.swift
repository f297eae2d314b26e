// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

// The asynchronous overloads never block the task's thread and end if the task is cancelled.

extension SecureProperty {
  /// Reads the value without blocking the task's thread.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func read() async throws(SecureStorageError) -> Value? {
    let property = resolved
    let value = try await property.storage.value(for: property.key, as: coding)
    failures.readSucceeded()
    return value
  }

  /// Stores a value, replacing the current one if there is one, without blocking the task's thread.
  ///
  /// - Parameter value: The value, or `nil` to remove the item.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the value may have been stored.
  public nonisolated(nonsending) func write(_ value: Value?) async throws(SecureStorageError) {
    let property = resolved
    try await property.storage.setValue(value, for: property.key, as: coding)
    failures.writeSucceeded()
  }

  /// Removes the item without blocking the task's thread.
  ///
  /// - Returns: `true` if there was an item.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled. In
  ///   that case, the item may have been removed.
  @discardableResult
  public nonisolated(nonsending) func remove() async throws(SecureStorageError) -> Bool {
    let property = resolved
    let wasThere = try await property.storage.remove(property.key)
    failures.writeSucceeded()
    return wasThere
  }

  /// Returns `true` if there is a value, without fetching it and without blocking the task's thread.
  ///
  /// - Returns: `true` if there is a value.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func exists() async throws(SecureStorageError) -> Bool {
    let property = resolved
    return try await property.storage.exists(property.key)
  }
}
