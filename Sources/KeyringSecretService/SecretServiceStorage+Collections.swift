#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: Any reason for not knowing the answer.
  public func collections() throws(SecureStorageError) -> [ItemCollection] {
    try perform(.read) { (call) throws(SecureStorageError) in
      let listed = try call.labeledCollections()
      let defaultPath =
        call.session.provider.keepsDefaultCollection
        ? try call.collection(aliased: "default") : ObjectPath.chosen(from: listed.map(\.path))
      var collections: [ItemCollection] = []
      for (path, label) in listed {
        // One that vanished meanwhile is left out.
        guard let isLocked = try call.lockState(of: path) else { continue }
        collections.append(
          ItemCollection(label: label, isLocked: isLocked, isDefault: path == defaultPath))
      }
      return collections
    }
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
    try validate(collectionLabel: label, for: .createCollection)
    try withLock(on: .collection(label), .createCollection) { () throws(SecureStorageError) in
      try perform(.createCollection, mayRepeatWrites: false) { (call) throws(SecureStorageError) in
        if try call.collection(labeled: label) != nil {
          throw call.failure(.collectionAlreadyExists)
        }
        try call.createCollection(labeled: label)
      }
    }
    return collection(labeled: label)
  }

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: Whether there was one.
  /// - Throws: Whatever kept it from being deleted.
  @discardableResult
  public func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool {
    // Not tried twice: another collection may have the same label.
    try noting(nil) { () throws(SecureStorageError) in
      try perform(.deleteCollection, mayRepeatWrites: false) { (call) throws(SecureStorageError) in
        guard let collection = try call.collection(labeled: label) else { return false }
        try call.delete(collection)
        return true
      }
    }
  }

  /// Tells whether every program uses this collection: the default one, or the session's.
  ///
  /// - Returns: Whether it is.
  /// - Throws: Any reason for not knowing the answer.
  public func isCommonCollection() throws(SecureStorageError) -> Bool {
    if options.collection == .default || options.collection == .session { return true }
    return try perform(.read) { (call) throws(SecureStorageError) in
      guard let own = try call.collection() else { return false }
      // Where the default changes by itself, one is chosen in its stead.
      if !call.session.provider.keepsDefaultCollection { return try call.chosenCollection() == own }
      for alias in ["default", "session"] where try call.collection(aliased: alias) == own {
        return true
      }
      return false
    }
  }
}
#endif
