#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: Any reason for not knowing the answer.
  public func collections() throws(SecureStorageError) -> [ItemCollection] {
    try perform(.read) { (call) throws(SecureStorageError) in
      let defaultPath = try call.collection(aliased: "default")
      var collections: [ItemCollection] = []
      for (path, label) in try call.labeledCollections() {
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
    try perform(.deleteCollection) { (call) throws(SecureStorageError) in
      guard let collection = try call.collection(labeled: label) else { return false }
      return try call.delete(collection)
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
      for alias in ["default", "session"] where try call.collection(aliased: alias) == own {
        return true
      }
      return false
    }
  }
}

extension ItemKey {
  /// Stands for a collection where two threads must not make the same.
  fileprivate static func collection(_ label: String) -> ItemKey {
    ItemKey(kind: ItemKind(rawValue: "collection"), attributes: [AttributeName.label: label])
  }
}

extension Call {
  fileprivate func createCollection(labeled label: String) throws(SecureStorageError) {
    if try collection(labeled: label) != nil { throw failure(.collectionAlreadyExists) }
    hasWritten = true
    guard let answer = try send(.createCollection(labeled: label)) else {
      throw unexpectedAnswer("nothing")
    }
    if !ObjectPath(answer.child(0).text).isNone { return }
    let result = try self.answer(to: ObjectPath(answer.child(1).text))
    guard result.isOfType("o") else { throw unexpectedAnswer("no collection") }
  }

  fileprivate func delete(_ collection: ObjectPath) throws(SecureStorageError) -> Bool {
    hasWritten = true
    guard let answer = try send(.delete(collection: collection)) else { return false }
    let prompt = ObjectPath(answer.child(0).text)
    if !prompt.isNone { _ = try self.answer(to: prompt) }
    return true
  }
}
#endif
