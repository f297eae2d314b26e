public import KeyringStorage

extension SecureProperties {
  /// What happens to the items of all properties from now on, whoever does it.
  ///
  /// ```swift
  /// for await change in try await SecureProperties(of: settings).changes {
  ///   print(change)  // replaced password (service: org.example.app, username: authToken)
  /// }
  /// ```
  ///
  /// Storages and service are those in force when this is called. Which property it was is told by
  /// its key: `change.key == settings.$authToken.key`.
  ///
  /// - Throws: `.notObservable` when a storage cannot tell of changes, `.canceled`, or what keeps one
  ///   from being observed.
  public var changes: ItemChanges {
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
