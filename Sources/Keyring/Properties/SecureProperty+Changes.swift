// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension SecureProperty {
  /// The changes of the property's item from now on.
  ///
  /// They include changes by this app, by other processes, and by the user in a keyring manager.
  ///
  /// ```swift
  /// for await _ in try await settings.$authToken.changes {
  ///   signIn(with: settings.authToken)
  /// }
  /// ```
  ///
  /// The storage and the service are the ones that are current when you get this property. A change doesn't
  /// contain the value: read the value after a change. A slow reader gets several changes as one.
  ///
  /// - Throws: `.notObservable` if the storage doesn't report changes, `.canceled` if the task is
  ///   cancelled, or another `SecureStorageError` if the storage can't be observed.
  public var changes: some AsyncSequence<ItemChange, Never> & Sendable {
    get async throws(SecureStorageError) {
      try await ItemChanges(of: [(try storage.observable(), .key(key))])
    }
  }
}
