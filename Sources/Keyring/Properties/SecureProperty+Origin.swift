// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension SecureProperty {
  /// Returns the name of the storage that has the value.
  ///
  /// If the property's storage uses several others, such as a ``LayeredStorage``, it's the name of the one
  /// that the value comes from.
  ///
  /// ```swift
  /// print(try settings.$authToken.origin() ?? "not set")  // CredentialsDirectoryStorage
  /// ```
  ///
  /// - Returns: The name of the storage, or `nil` if there is no value.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func origin() throws(SecureStorageError) -> String? {
    noteRead()
    try takeOver()
    return try storage.origin(of: key)
  }

  /// Returns the name of the storage that has the value, without blocking the task's thread.
  ///
  /// - Returns: The name of the storage, or `nil` if there is no value.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func origin() async throws(SecureStorageError) -> String? {
    try await takeOver()
    return try await storage.origin(of: key)
  }
}
