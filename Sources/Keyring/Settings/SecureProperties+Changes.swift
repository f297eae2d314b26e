// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension SecureProperties {
  /// The changes of the items of all properties from now on, by any program.
  ///
  /// Compare keys to find the property of a change: `change.key == settings.$authToken.key`.
  ///
  /// ```swift
  /// for await change in try await SecureProperties(of: settings).changes {
  ///   print(change)  // replaced password (service: org.example.app, username: authToken)
  /// }
  /// ```
  ///
  /// - Throws: `.notObservable` for a storage that is silent about changes, `.canceled` for a cancelled task, or
  ///   another `SecureStorageError` for a failed observation.
  public var changes: some AsyncSequence<ItemChange, Never> & Sendable {
    get async throws(SecureStorageError) {
      var sources: [(storage: any ObservableStorage, query: ItemQuery)] = []
      for part in parts {
        let storage = try part.storage.observable()
        sources += Set(part.keys).map { (storage, .key($0)) }
      }
      return try await ItemChanges(of: sources)
    }
  }
}
