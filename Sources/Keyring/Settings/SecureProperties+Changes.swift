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
  /// - Throws: `.notObservable` if a storage doesn't report changes, `.canceled` if the task is cancelled,
  ///   or another `SecureStorageError` if a storage can't be observed.
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
