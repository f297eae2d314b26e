#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// The object that messages about the storage's collection go to.
  ///
  /// - Returns: The collection or its alias, which need not stand for one; `nil` when there is none
  ///   with the label.
  /// - Throws: Any reason for not knowing the answer.
  func collection() throws(SecureStorageError) -> ObjectPath? {
    if let knownCollection { return knownCollection }
    if choosesCollection {
      knownCollection = try chosenCollection()
      return knownCollection
    }
    knownCollection =
      switch options.collection {
      case .default, .session: options.collection.alias.map { .collection(aliased: $0) }
      case .named(let label): try collection(labeled: label)
      }
    return knownCollection
  }

  /// The object that messages about the storage's collection go to, for what cannot do without one.
  func existingCollection() throws(SecureStorageError) -> ObjectPath {
    if let collection = try collection() { return collection }
    throw noCollection()
  }

  /// Returns the collection itself: `Lock` and `Unlock` take its path, and no alias.
  func lockableCollection() throws(SecureStorageError) -> ObjectPath {
    if let collection = try namedCollection() { return collection }
    throw noCollection()
  }

  /// What the storage's alias or label stands for, if anything; it need not exist any more.
  func namedCollection() throws(SecureStorageError) -> ObjectPath? {
    guard !choosesCollection, let alias = options.collection.alias else { return try collection() }
    return try collection(aliased: alias)
  }

  /// The error when there is no collection, or it has vanished.
  func noCollection() -> SecureStorageError {
    switch options.collection {
    case .default: session.provider.listsAllCollections ? failure(.noDefaultCollection) : closed()
    case .session:
      failure(.collectionNotFound, "The keyring has no collection that is forgotten at log-out.")
    case .named(let label):
      failure(.collectionNotFound, "The keyring has no collection with the label \"\(label)\".")
    }
  }

  /// The error when the provider doesn't list the collection and may only have closed it.
  func closed() -> SecureStorageError {
    failure(
      .locked, "The keyring shows no such collection, and may have closed it.",
      advice: "Open it in your keyring manager, or create it.")
  }

  /// Finds the collection with a label.
  func collection(labeled label: String) throws(SecureStorageError) -> ObjectPath? {
    try labeledCollections().first { $0.label.isExactly(label) }?.path
  }

  /// Lists all collections with their labels; those that vanish meanwhile are left out.
  func labeledCollections() throws(SecureStorageError) -> [(path: ObjectPath, label: String)] {
    guard let answer = try send(.collections()) else { throw unexpectedAnswer("nothing") }
    let paths = answer.child(0).child(0)
    guard paths.isOfType("ao") else { throw unexpectedAnswer("no list of collections") }
    let labels = try send(paths.paths.map { .label(ofCollection: $0) })
    return zip(paths.paths, labels).compactMap { path, answer in
      guard let label = answer?.child(0).child(0), label.isOfType("s") else { return nil }
      return (path, label.text)
    }
  }

  /// The collection that an alias stands for.
  func collection(aliased name: String) throws(SecureStorageError) -> ObjectPath? {
    guard let answer = try send(.readAlias(name)) else { return nil }
    let path = ObjectPath(answer.child(0).text)
    return path.isNone ? nil : path
  }
}

extension SecretServiceStorage.Collection {
  /// The name by which the Secret Service knows the collection whatever its label.
  var alias: String? {
    switch self {
    case .default: "default"
    case .session: "session"
    case .named: nil
    }
  }
}

// MARK: - Locking

extension Call {
  func isLocked(_ collection: ObjectPath) throws(SecureStorageError) -> Bool {
    if let isLocked = try lockState(of: collection) { return isLocked }
    throw noCollection()
  }

  /// Whether a collection is locked; `nil` when it does not exist (any more).
  func lockState(of collection: ObjectPath) throws(SecureStorageError) -> Bool? {
    guard let answer = try send(.isLocked(collection)) else { return nil }
    return try isLocked(answer)
  }

  /// Reads the answer to the question whether a collection is locked.
  func isLocked(_ answer: Variant) throws(SecureStorageError) -> Bool {
    let value = answer.child(0).child(0)
    guard value.isOfType("b") else { throw unexpectedAnswer("no state of the lock") }
    return value.bool
  }

  func lock(_ collection: ObjectPath) throws(SecureStorageError) {
    // Another program may unlock it at once, but not each time.
    for _ in 0..<3 {
      // KWallet 5.103 cannot lock what is locked.
      if try isLocked(collection) { return }
      guard let answer = try send(.lock([collection])) else { throw noCollection() }
      let prompt = ObjectPath(answer.child(1).text)
      if !prompt.isNone { _ = try self.answer(to: prompt) }
    }
    if try isLocked(collection) { return }
    // As of a collection that can't be locked, such as one that is kept in memory only.
    throw failure(
      .backend,
      "The keyring says that it has locked the collection, and the collection is not locked.",
      advice: "Keep in another collection what is to be locked.")
  }

  /// Unlocks items or collections, asking the user if that is allowed.
  ///
  /// - Parameter objects: What to unlock.
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  func unlock(_ objects: [ObjectPath]) throws(SecureStorageError) {
    if objects.isEmpty { return }
    // Nothing is asked for that would not be performed: the prompt would stay behind in the daemon.
    guard options.interaction == .allowed else { throw failure(.locked) }
    // KWallet 5.103 ends a prompt, unseen and with nothing unlocked, when another one is answered.
    for _ in 0..<3 {
      guard let answer = try send(.unlock(objects)) else { throw unexpectedAnswer("nothing") }
      var unlocked = answer.child(0).paths
      let prompt = ObjectPath(answer.child(1).text)
      if !prompt.isNone, let result = try self.answer(toExisting: prompt) {
        // KWallet without a wallet ends the prompt with a value of another type.
        guard result.isOfType("ao") else { break }
        unlocked += result.paths
      }
      if Set(objects).isSubset(of: unlocked) { return }
      if prompt.isNone { break }
    }
    throw failure(.locked)
  }
}
#endif
