// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage

extension SecureProperty {
  /// Looks up the name of the storage that has the value.
  ///
  /// If the property's storage uses several others, such as a ``LayeredStorage``, it's the name of the one
  /// that the value comes from.
  ///
  /// ```swift
  /// print(try settings.$authToken.origin() ?? "not set")  // CredentialsDirectoryStorage
  /// ```
  ///
  /// - Returns: The name of the storage, or `nil` for a missing value.
  /// - Throws: `SecureStorageError` for a failed read.
  public func origin() throws(SecureStorageError) -> String? {
    projectedValue.noteRead()
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await origin() }
  }

  /// Looks up the name of the storage that has the value, suspending the task.
  ///
  /// ```swift
  /// print(try await settings.$authToken.origin() ?? "not set")
  /// ```
  ///
  /// - Returns: The name of the storage, or `nil` for a missing value.
  /// - Throws: `SecureStorageError` for a failed read, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func origin() async throws(SecureStorageError) -> String? {
    let value = projectedValue
    try await value.takeOver()
    return try await value.chosenStorage.storage.origin(of: value.currentKey)
  }
}
