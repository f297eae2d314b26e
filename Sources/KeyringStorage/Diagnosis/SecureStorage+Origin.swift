// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

// The storage that an item comes from, if a storage uses several others.

extension SecureStorage {
  /// Returns the name of the storage that has an item.
  ///
  /// For a storage that uses several others, it's the name of the one that the item is in.
  ///
  /// ```swift
  /// print(try storage.origin(of: key) ?? "absent")
  /// ```
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The name of the storage that the item is in, or `nil` for an absent item.
  /// - Throws: The error of the storage.
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
  /// - Returns: The name of the storage that the item is in, or `nil` for an absent item.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func origin(
    of key: ItemKey
  ) async throws(SecureStorageError) -> String? {
    try await originWithoutBlocking(of: key)
  }

  /// Returns the name of this storage for an item that it has.
  public nonisolated(nonsending) func originWithoutBlocking(
    of key: ItemKey
  ) async throws(SecureStorageError) -> String? {
    try await exists(key) ? backendName : nil
  }
}
