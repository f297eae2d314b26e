public import KeyringStorage

extension SecureProperty {
  /// What happens to the property's item from now on, whoever does it: this app, another process, or
  /// the user in a keyring manager.
  ///
  /// ```swift
  /// for await _ in try await settings.$authToken.changes {
  ///   signIn(with: settings.authToken)
  /// }
  /// ```
  ///
  /// Storage and service are those in force when this is called. The changes hold no value: read it
  /// when there is one. Who reads slowly gets one change for several.
  ///
  /// - Throws: `.notObservable` when the storage cannot tell of changes, `.canceled`, or what keeps it
  ///   from being observed.
  public var changes: ItemChanges {
    get async throws(SecureStorageError) {
      try await ItemChanges(of: [(try storage.observable(), .key(key))])
    }
  }
}

extension SecureStorage {
  /// The same storage, if it can tell of changes.
  func observable() throws(SecureStorageError) -> any ObservableStorage {
    if let storage = self as? any ObservableStorage { return storage }
    throw SecureStorageError(.notObservable, operation: .observe, backend: backendName)
  }
}
