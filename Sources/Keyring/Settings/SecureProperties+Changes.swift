// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension SecureProperties {
  /// The changes of the items of all properties from now on, regardless of who makes them.
  ///
  /// ```swift
  /// for await change in try await SecureProperties(of: settings).changes {
  ///   print(change)  // replaced password (service: org.example.app, username: authToken)
  /// }
  /// ```
  ///
  /// The storages and the service are the ones that are current when you get this property. To find the
  /// property of a change, compare the keys: `change.key == settings.$authToken.key`. A comparison needs
  /// `import KeyringStorage`, a loop doesn't.
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
