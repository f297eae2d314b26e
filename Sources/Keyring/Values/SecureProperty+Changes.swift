// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension SecureProperty {
  /// The changes of the property's item from now on, by any program.
  ///
  /// Read the value after a change, which doesn't contain it. If you read slowly, several changes are one.
  ///
  /// ```swift
  /// for await _ in try await settings.$authToken.changes {
  ///   signIn(with: settings.authToken)
  /// }
  /// ```
  ///
  /// - Throws: `.notObservable` if the storage doesn't report changes, `.canceled` if the task is
  ///   cancelled, or another `SecureStorageError` if the storage can't be observed.
  public var changes: some AsyncSequence<ItemChange, Never> & Sendable {
    get async throws(SecureStorageError) {
      try await ItemChanges(of: [(try storage.observable(), .key(key))])
    }
  }
}
