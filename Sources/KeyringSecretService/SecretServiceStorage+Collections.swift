#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func collections() throws(SecureStorageError) -> [ItemCollection] {
    try CallLoop.runToEnd(listCollections)
  }

  /// The storage for a collection, with the other options of this one.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage.
  public func collection(labeled label: String) -> SecretServiceStorage {
    var options = options
    options.collection = .named(label)
    return SecretServiceStorage(options: options)
  }

  /// Makes a collection; the keyring asks the user for its password.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it.
  /// - Throws: `.collectionAlreadyExists` when there is one with that label, `.locked` when nobody
  ///   may be asked, `.userCanceled` when the user declined.
  @discardableResult
  public func createCollection(
    labeled label: String
  ) throws(SecureStorageError) -> SecretServiceStorage {
    try CallLoop.runToEnd { () async throws(SecureStorageError) in try await makeCollection(label) }
  }

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if it can't be deleted.
  @discardableResult
  public func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool {
    defer { noteWrite(of: nil) }
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in
      try await deleteCollection(label)
    }
  }

  /// Tells whether every program uses this collection: the default one, or the session's.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func isCommonCollection() throws(SecureStorageError) -> Bool {
    try CallLoop.runToEnd(isCommon)
  }
}

// MARK: - Without blocking

extension SecretServiceStorage {
  /// Lists the collections; a thread of the library's own waits for the keyring.
  public func collectionsWithoutBlocking() async throws(SecureStorageError) -> [ItemCollection] {
    try await CallLoop.run(listCollections)
  }

  /// Makes a collection; a thread of the library's own waits for the user.
  public func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> SecretServiceStorage {
    try await CallLoop.run { () async throws(SecureStorageError) in
      try await makeCollection(label)
    }
  }

  /// Deletes a collection and all its items for good; a thread of the library's own waits for the keyring.
  public func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    defer { noteWrite(of: nil) }
    return try await CallLoop.run { () async throws(SecureStorageError) in
      try await deleteCollection(label)
    }
  }

  /// Returns whether every program uses this collection; a thread of the library's own waits for the keyring.
  public func isCommonCollectionWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await CallLoop.run(isCommon)
  }
}

// MARK: - The operations, each written once

extension SecretServiceStorage {
  private func listCollections() async throws(SecureStorageError) -> [ItemCollection] {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      let listed = try await call.labeledCollections()
      let defaultPath =
        call.session.provider.keepsDefaultCollection
        ? try await call.collection(aliased: "default")
        : ObjectPath.chosen(from: listed.map(\.path))
      var collections: [ItemCollection] = []
      for (path, label) in listed {
        // One that vanished meanwhile is left out.
        guard let isLocked = try await call.lockState(of: path) else { continue }
        collections.append(
          ItemCollection(label: label, isLocked: isLocked, isDefault: path == defaultPath))
      }
      return collections
    }
  }

  private func makeCollection(
    _ label: String
  ) async throws(SecureStorageError) -> SecretServiceStorage {
    try validate(collectionLabel: label, for: .createCollection)
    try await withLock(on: .collection(label), .createCollection) {
      () async throws(SecureStorageError) in
      try await perform(.createCollection, mayRepeatWrites: false) {
        (call) async throws(SecureStorageError) in
        if try await call.collection(labeled: label) != nil {
          throw call.failure(.collectionAlreadyExists)
        }
        try await call.createCollection(labeled: label)
      }
    }
    return collection(labeled: label)
  }

  private func deleteCollection(_ label: String) async throws(SecureStorageError) -> Bool {
    // Not tried twice: another collection may have the same label.
    try await perform(.deleteCollection, mayRepeatWrites: false) {
      (call) async throws(SecureStorageError) in
      guard let collection = try await call.collection(labeled: label) else { return false }
      try await call.delete(collection)
      return true
    }
  }

  private func isCommon() async throws(SecureStorageError) -> Bool {
    if options.collection == .default || options.collection == .session { return true }
    return try await perform(.read) { (call) async throws(SecureStorageError) in
      guard let own = try await call.collection() else { return false }
      // Where the default changes by itself, one is chosen in its stead.
      if !call.session.provider.keepsDefaultCollection {
        return try await call.chosenCollection() == own
      }
      for alias in ["default", "session"] where try await call.collection(aliased: alias) == own {
        return true
      }
      return false
    }
  }
}
#endif
