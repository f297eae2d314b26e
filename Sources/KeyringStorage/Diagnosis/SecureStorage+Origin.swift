// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

// The storage that an item comes from, if a storage uses several others.

extension SecureStorage {
  /// Returns the name of the storage that has an item.
  ///
  /// For a storage that uses several others, it's the name of the one that the item is in.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The name of the storage that the item is in, or `nil` if there is no item.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func origin(of key: ItemKey) throws(SecureStorageError) -> String? {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await originWithoutBlocking(of: key)
    }
  }

  /// Returns the name of the storage that has an item.
  ///
  /// For a storage that uses several others, it's the name of the one that the item is in.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The name of the storage that the item is in, or `nil` if there is no item.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func origin(
    of key: ItemKey
  ) async throws(SecureStorageError) -> String? {
    try await originWithoutBlocking(of: key)
  }

  /// Returns the name of this storage if it has the item.
  public nonisolated(nonsending) func originWithoutBlocking(
    of key: ItemKey
  ) async throws(SecureStorageError) -> String? {
    try await exists(key) ? backendName : nil
  }
}
