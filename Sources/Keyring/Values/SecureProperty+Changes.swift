// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension SecureProperty {
  /// The changes of the property's item from now on, by any program.
  ///
  /// Read the value after a change, which doesn't contain it. For a slow reader, several changes are one.
  ///
  /// ```swift
  /// for await _ in try await settings.$authToken.changes {
  ///   signIn(with: settings.authToken)
  /// }
  /// ```
  ///
  /// - Throws: `.notObservable` for a storage that is silent about changes, `.canceled` for a cancelled task, or
  ///   another `SecureStorageError` for a failed observation.
  public var changes: some AsyncSequence<ItemChange, Never> & Sendable {
    get async throws(SecureStorageError) {
      try await ItemChanges(of: [(try storage.observable(), .key(key))])
    }
  }
}
