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
    let value = projectedValue
    value.noteRead()
    try value.takeOver()
    return try value.chosenStorage.storage.origin(of: value.currentKey)
  }

  /// Returns the name of the storage that has the value, without blocking the task's thread.
  ///
  /// - Returns: The name of the storage, or `nil` if there is no value.
  /// - Throws: `SecureStorageError` if the storage can't be read, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func origin() async throws(SecureStorageError) -> String? {
    let value = projectedValue
    try await value.takeOver()
    return try await value.chosenStorage.storage.origin(of: value.currentKey)
  }
}
