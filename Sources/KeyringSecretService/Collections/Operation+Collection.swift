// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime
internal import Synchronization

extension Operation {
  /// Returns the object that receives messages about the storage's collection, or throws the error for its absence.
  func existingCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await collection() { return collection }
    throw noCollection()
  }

  /// Returns the collection itself, because `Lock` and `Unlock` take its path, and refuse an alias.
  func lockableCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await namedCollection() { return collection }
    throw noCollection()
  }

  /// Returns the collection that the storage's alias or label stands for, or `nil`.
  ///
  /// The collection may have been deleted.
  func namedCollection() async throws(SecureStorageError) -> ObjectPath? {
    if choosesCollection { return try await chooseCollection() }
    return try await options.collection.alias == nil ? collection() : path(of: options.collection)
  }

  /// Returns the error for a collection that is missing or has vanished.
  func noCollection() -> SecureStorageError {
    switch options.collection {
    case .default: provider.listsAllCollections ? failure(.noDefaultCollection) : closed()
    case .session:
      failure(
        .collectionNotFound, "The keyring doesn't support a collection that is deleted at logout.")
    case .named(let label):
      failure(.collectionNotFound, "The keyring has no collection with the label \"\(label)\".")
    }
  }

  /// Returns the error for a collection that the provider leaves out, but may only have closed.
  func closed() -> SecureStorageError {
    failure(
      .locked, "The keyring doesn't show this collection. It may have closed it.",
      recoverySuggestion: "Open it in your keyring manager, or create it.")
  }

  /// Returns the object that receives messages about the storage's collection.
  ///
  /// - Returns: The collection or its alias, or `nil` for a label that no collection has. An alias doesn't
  ///   always stand for a collection.
  /// - Throws: The failure of a message.
  func collection() async throws(SecureStorageError) -> ObjectPath? {
    if let knownCollection { return knownCollection }
    knownCollection =
      if choosesCollection {
        if let chosen = session.chosenCollection.withLock({ $0 }) {
          chosen
        } else {
          try await chooseCollection()
        }
      } else if provider.hasAliasObjects, let alias = options.collection.alias {
        ObjectPath.collection(aliased: alias)
      } else {
        try await path(of: options.collection)
      }
    return knownCollection
  }

  /// `true` for a storage that chooses one of all collections.
  ///
  /// It does if the default collection can change at any time.
  var choosesCollection: Bool { isChosen(options.collection) }

  /// Asks which collection stands for the default collection, if any, and remembers it.
  func chooseCollection() async throws(SecureStorageError) -> ObjectPath? {
    try chooseCollection(from: await send(choiceQuestions))
  }

  /// Chooses a collection, and remembers it.
  ///
  /// The first collection by name is chosen, regardless of which one is in front.
  func chooseCollection(
    from answers: [Variant?]
  ) throws(SecureStorageError) -> ObjectPath? {
    let chosen = try chosen(from: answers)
    session.chosenCollection.withLock { $0 = chosen }
    knownCollection = chosen
    return chosen
  }

  /// Throws an error for a missing collection that the provider may only have closed.
  func expectNoCollection() throws(SecureStorageError) {
    if !provider.listsAllCollections { throw noCollection() }
  }

  /// Returns `true` for a collection in which everything is on disk, since its last write was long ago.
  ///
  /// - Parameter answer: The provider's answer, which has the time of the last write.
  /// - Returns: `true` for an answer that says so.
  func wasQuiet(_ answer: Variant?) -> Bool {
    guard let quietTime = provider.quietTime,
      let modified = answer?.property(ofType: "t")?.unsigned, modified > 0
    else { return false }
    return Date().timeIntervalSince1970 - Double(modified)
      > Double(quietTime.components.seconds)
  }
}

// MARK: - Locking

extension Operation {
  func isLocked(_ collection: ObjectPath) async throws(SecureStorageError) -> Bool {
    if let isLocked = try await lockState(of: collection) { return isLocked }
    throw noCollection()
  }

  func lock(_ collection: ObjectPath) async throws(SecureStorageError) {
    // Another program may unlock the collection right away, but not every time.
    for _ in 0..<3 {
      // Some providers can't lock a collection that is already locked.
      if try await isLocked(collection) { return }
      session.seenUnlocked.removeAll()
      guard let answer = try await send(.lock([collection])) else { throw noCollection() }
      try await finish(answer.child(1))
      // A search that was under way may have seen it unlocked before the lock.
      session.seenUnlocked.removeAll()
    }
    if try await isLocked(collection) { return }
    // This happens with a collection that can't be locked, such as one that is kept in memory only.
    throw failure(
      .other,
      "The keyring reported that it locked the collection, but the collection isn't locked.",
      recoverySuggestion: "Use another collection for items that must be locked.")
  }

  /// Unlocks items or collections for which the provider has no question.
  ///
  /// A prompt that comes instead is left alone, and stays behind in the provider. The
  /// provider is therefore asked again only after some time.
  func unlockWithoutPrompt(_ objects: [ObjectPath]) async throws(SecureStorageError) {
    let refusal = session.promptsNeeded[objects[0].ownCollection]
    let mayTry = refusal.map { $0.duration(to: .now) >= Self.timeBetweenAttempts } ?? true
    guard provider.unlocksWithoutPrompt, mayTry,
      Set(objects).isSubset(of: try await requestUnlock(objects).child(0).paths)
    else { throw failure(.locked) }
  }

  /// The time after which something that needed a prompt may open without one.
  ///
  /// It may do that because another collection is unlocked by now, which has the password.
  private static let timeBetweenAttempts = Duration.seconds(60)

  /// Asks the provider to unlock items or collections, and records whether it wants a prompt.
  ///
  /// - Returns: The objects that it has unlocked, and the prompt.
  func requestUnlock(_ objects: [ObjectPath]) async throws(SecureStorageError) -> Variant {
    session.seenUnlocked.removeAll()
    guard let answer = try await send(.unlock(objects)) else {
      throw unexpectedAnswer("with nothing")
    }
    let needsPrompt = !ObjectPath(answer.child(1).text).isNone
    session.promptsNeeded[objects[0].ownCollection] = needsPrompt ? .now : nil
    return answer
  }
}

extension ObjectPath {
  /// The collection that the object is, or is in.
  var ownCollection: ObjectPath {
    ObjectPath("/" + text.split(separator: "/").prefix(5).joined(separator: "/"))
  }
}
#endif
