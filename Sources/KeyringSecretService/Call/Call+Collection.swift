#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the collection of the storage.
  ///
  /// - Returns: The collection, or `nil` when there is none, so that it cannot have items either.
  /// - Throws: Any reason for not knowing the answer.
  func collection() throws(SecureStorageError) -> ObjectPath? {
    if let knownCollection { return knownCollection }
    if case .named(let label) = options.collection {
      knownCollection = try collection(labeled: label)
    } else if let alias = options.collection.alias {
      knownCollection = try collection(aliased: alias)
    }
    return knownCollection
  }

  /// Finds the collection of the storage, for what cannot do without one.
  func existingCollection() throws(SecureStorageError) -> ObjectPath {
    if let collection = try collection() { return collection }
    throw noCollection()
  }

  /// The error when there is no collection, or it has vanished.
  func noCollection() -> SecureStorageError {
    switch options.collection {
    case .default: failure(.noDefaultCollection)
    case .session:
      failure(.collectionNotFound, "The keyring has no collection that is forgotten at log-out.")
    case .named(let label):
      failure(.collectionNotFound, "The keyring has no collection with the label \"\(label)\".")
    }
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
    try send(.readAlias(name)).flatMap(path(inAlias:))
  }

  private func path(inAlias answer: Variant) -> ObjectPath? {
    let path = ObjectPath(answer.child(0).text)
    return path.isNone ? nil : path
  }
}

extension SecretServiceStorage.Collection {
  /// The name by which the Secret Service knows the collection whatever its label.
  fileprivate var alias: String? {
    switch self {
    case .default: "default"
    case .session: "session"
    case .named: nil
    }
  }
}

// MARK: - Searching

extension Call {
  /// What a search found in the storage's collection.
  struct Found {
    var unlocked: [ObjectPath] = []
    var locked: [ObjectPath] = []

    var isEmpty: Bool { unlocked.isEmpty && locked.isEmpty }
  }

  /// Finds the items of the storage's collection that have all these attributes.
  func search(_ attributes: [String: String]) throws(SecureStorageError) -> Found {
    try search([attributes])[0]
  }

  /// Finds the items of the storage's collection, for each set of attributes those that have them all.
  func search(_ attributeSets: [[String: String]]) throws(SecureStorageError) -> [Found] {
    let searches = attributeSets.map { Message.searchItems($0) }
    var answers: [Variant?] = []
    if knownCollection == nil, let alias = options.collection.alias {
      // None needs the other's answer, so all travel together.
      answers = try send([.readAlias(alias)] + searches)
      knownCollection = answers.removeFirst().flatMap(path(inAlias:))
    } else if try collection() != nil {
      answers = try send(searches)
    }
    guard let knownCollection else { return attributeSets.map { _ in Found() } }
    return answers.map { answer in
      guard let answer else { return Found() }
      return Found(
        unlocked: answer.child(0).paths.filter { $0.isInside(knownCollection) },
        locked: answer.child(1).paths.filter { $0.isInside(knownCollection) })
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
    // KWallet 5.103 cannot lock what is locked.
    if try isLocked(collection) { return }
    guard let answer = try send(.lock([collection])) else { throw noCollection() }
    let prompt = ObjectPath(answer.child(1).text)
    if !prompt.isNone { _ = try self.answer(to: prompt) }
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
