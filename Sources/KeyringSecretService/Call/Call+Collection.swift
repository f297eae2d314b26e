#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

extension Call {
  /// The object that messages about the storage's collection go to.
  ///
  /// - Returns: The collection or its alias, which need not stand for one; `nil` when there is none
  ///   with the label.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func collection() async throws(SecureStorageError) -> ObjectPath? {
    if let knownCollection { return knownCollection }
    if choosesCollection {
      knownCollection = try await chosenCollection()
      return knownCollection
    }
    knownCollection =
      switch options.collection {
      case .default, .session: options.collection.alias.map { .collection(aliased: $0) }
      case .named(let label): try await collection(labeled: label)
      }
    return knownCollection
  }

  /// The object that messages about the storage's collection go to, for what cannot do without one.
  func existingCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await collection() { return collection }
    throw noCollection()
  }

  /// Returns the collection itself: `Lock` and `Unlock` take its path, and no alias.
  func lockableCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await namedCollection() { return collection }
    throw noCollection()
  }

  /// What the storage's alias or label stands for, if anything; it need not exist any more.
  func namedCollection() async throws(SecureStorageError) -> ObjectPath? {
    options.collection.alias == nil || choosesCollection
      ? try await collection() : try await path(of: options.collection)
  }

  /// The error when there is no collection, or it has vanished.
  func noCollection() -> SecureStorageError {
    switch options.collection {
    case .default: provider.listsAllCollections ? failure(.noDefaultCollection) : closed()
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
}

// MARK: - Locking

extension Call {
  func isLocked(_ collection: ObjectPath) async throws(SecureStorageError) -> Bool {
    if let isLocked = try await lockState(of: collection) { return isLocked }
    throw noCollection()
  }

  func lock(_ collection: ObjectPath) async throws(SecureStorageError) {
    // Another program may unlock it at once, but not each time.
    for _ in 0..<3 {
      // KWallet 5.103 cannot lock what is locked.
      if try await isLocked(collection) { return }
      guard let answer = try await send(.lock([collection])) else { throw noCollection() }
      let prompt = ObjectPath(answer.child(1).text)
      if !prompt.isNone { _ = try await self.answer(to: prompt) }
    }
    if try await isLocked(collection) { return }
    // As of a collection that can't be locked, such as one that is kept in memory only.
    throw failure(
      .backend,
      "The keyring says that it has locked the collection, and the collection is not locked.",
      advice: "Keep in another collection what is to be locked.")
  }

  /// Unlocks items or collections, asking the user if that is allowed.
  ///
  /// Calls that need the same unlocked share one question, and its answer.
  ///
  /// - Parameter objects: What to unlock.
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  func unlock(_ objects: [ObjectPath]) async throws(SecureStorageError) {
    if objects.isEmpty { return }
    // Nothing is asked for that would not be performed: the prompt would stay behind in the daemon.
    guard options.interaction == .allowed else { throw failure(.locked) }
    let patience = Deadline(after: options.longestOperation)
    while true {
      let (unlocking, isMine) = session.unlocking(objects)
      if isMine { return try await unlock(objects, for: unlocking) }
      do throws(BusFailure) {
        try await asking { () async throws(BusFailure) in
          try await unlocking.wait(until: patience)
        }
      } catch {
        throw questionFailure(error)
      }
      switch unlocking.value {
      case .unlocked: return
      case .refused(var error):
        error.operation = operation
        throw error
      case .abandoned, nil: try checkDeadline()
      }
    }
  }

  private func unlock(
    _ objects: [ObjectPath], for unlocking: SharedOutcome<SecretSession.Unlocking>
  ) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await unlockAlone(objects)
      session.settle(unlocking, of: objects, .unlocked)
    } catch {
      let isRefused = [.userCanceled, .locked, .timedOut].contains(error.code)
      session.settle(unlocking, of: objects, isRefused ? .refused(error) : .abandoned)
      throw error
    }
  }

  private func unlockAlone(_ objects: [ObjectPath]) async throws(SecureStorageError) {
    // KWallet 5.103 ends a prompt, unseen and with nothing unlocked, when another one is answered.
    for _ in 0..<3 {
      guard let answer = try await send(.unlock(objects)) else { throw unexpectedAnswer("nothing") }
      var unlocked = answer.child(0).paths
      let prompt = ObjectPath(answer.child(1).text)
      if !prompt.isNone, let result = try await self.answer(toExisting: prompt) {
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

extension SecretSession {
  /// The outcome of a question to unlock something.
  enum Unlocking: Sendable {
    case unlocked
    case refused(SecureStorageError)
    /// Nobody knows: the call that has asked ran out of time, say.
    case abandoned
  }

  /// The question that unlocks these objects: one that is open, or a new one.
  fileprivate func unlocking(
    _ objects: [ObjectPath]
  ) -> (unlocking: SharedOutcome<Unlocking>, isMine: Bool) {
    unlockings.withLock { unlockings in
      if let known = unlockings[Set(objects)] { return (known, false) }
      let new = SharedOutcome<Unlocking>()
      unlockings[Set(objects)] = new
      return (new, true)
    }
  }

  fileprivate func settle(
    _ unlocking: SharedOutcome<Unlocking>, of objects: [ObjectPath], _ value: Unlocking
  ) {
    unlockings.withLock { $0[Set(objects)] = nil }
    unlocking.settle(value)
  }
}
#endif
