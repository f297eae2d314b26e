// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

extension Operation {
  /// Returns the object that receives messages about the storage's collection, or throws if there is none.
  func existingCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await collection() { return collection }
    throw noCollection()
  }

  /// Returns the collection itself, because `Lock` and `Unlock` take its path and don't accept an alias.
  func lockableCollection() async throws(SecureStorageError) -> ObjectPath {
    if let collection = try await namedCollection() { return collection }
    throw noCollection()
  }

  /// Returns the collection that the storage's alias or label stands for, if any.
  ///
  /// The collection may no longer exist.
  func namedCollection() async throws(SecureStorageError) -> ObjectPath? {
    if choosesCollection { return try await chooseCollection() }
    return try await options.collection.alias == nil ? collection() : path(of: options.collection)
  }

  /// Returns the error for a collection that doesn't exist or has vanished.
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

  /// Returns the error for a collection that the provider doesn't list, but may only have closed.
  func closed() -> SecureStorageError {
    failure(
      .locked, "The keyring doesn't show this collection. It may have closed it.",
      recoverySuggestion: "Open it in your keyring manager, or create it.")
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

  /// Unlocks items or collections, asking the user if that is allowed.
  ///
  /// Calls that need the same objects unlocked share one prompt and its answer.
  ///
  /// - Parameter objects: The items or collections to unlock.
  /// - Throws: `.locked` if the user can't be asked, `.userCanceled` if the user declined.
  func unlock(_ objects: [ObjectPath]) async throws(SecureStorageError) {
    if objects.isEmpty { return }
    guard options.interaction != .never else { return try await unlockWithoutPrompt(objects) }
    let deadline = Deadline(after: options.longestOperation)
    let question = Deadline(after: options.promptTimeout)
    while true {
      let (unlocking, isMine) = session.unlocking(objects, options.interaction)
      if isMine { return try await unlock(objects, for: unlocking, until: question) }
      do throws(DBusError) {
        try await asking { () async throws(DBusError) in
          try await unlocking.wait(until: deadline.end).check()
        }
      } catch {
        throw questionFailure(error)
      }
      switch unlocking.value {
      case .unlocked: return
      // The call that asked gave the user less time. This call asks again, for the rest of its time.
      case .unanswered(_, after: let time)
      where time < options.promptTimeout && question.failure == nil: continue
      case .refused(var error), .unanswered(var error, after: _):
        error.operation = operation
        throw error
      case .abandoned, nil: try checkDeadline()
      }
    }
  }

  /// Unlocks items or collections if the provider does so without asking the user.
  ///
  /// A prompt that comes instead is neither shown nor dismissed, and stays behind in the provider. The
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
  private func requestUnlock(_ objects: [ObjectPath]) async throws(SecureStorageError) -> Variant {
    session.seenUnlocked.removeAll()
    guard let answer = try await send(.unlock(objects)) else {
      throw unexpectedAnswer("with nothing")
    }
    let needsPrompt = !ObjectPath(answer.child(1).text).isNone
    session.promptsNeeded[objects[0].ownCollection] = needsPrompt ? .now : nil
    return answer
  }

  private func unlock(
    _ objects: [ObjectPath], for unlocking: SharedOutcome<SecretSession.Unlocking>,
    until end: Deadline
  ) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      if options.interaction == .terminal {
        try await unlockAtTerminal(objects, until: end)
      } else {
        try await unlockAlone(objects, until: end)
      }
      session.settle(unlocking, of: objects, options.interaction, .unlocked)
    } catch {
      let outcome: SecretSession.Unlocking =
        switch error.code {
        // The time of the prompt has passed, and not that of the keyring's answers.
        case .timedOut where deadline.failure == nil:
          .unanswered(error, after: options.promptTimeout)
        case .timedOut, .locked, .userCanceled, .wrongKey, .notEncrypted: .refused(error)
        default: .abandoned
        }
      session.settle(unlocking, of: objects, options.interaction, outcome)
      throw error
    }
  }

  private func unlockAlone(
    _ objects: [ObjectPath], until end: Deadline
  ) async throws(SecureStorageError) {
    // If another prompt is answered, some providers end this one without showing it or unlocking anything.
    for _ in 0..<3 {
      let answer = try await requestUnlock(objects)
      var unlocked = answer.child(0).paths
      let prompt = ObjectPath(answer.child(1).text)
      let collections = objects.filter { $0 == $0.ownCollection }
      if !prompt.isNone,
        let result = try await self.answer(
          toExisting: prompt, unlocking: collections.count == objects.count ? collections : [],
          until: end)
      {
        // Without a collection, some providers end the prompt with a value of another type.
        guard result.isOfType("ao") else { break }
        unlocked += result.paths
      }
      if Set(objects).isSubset(of: unlocked) { return }
      if prompt.isNone { break }
    }
    throw failure(.locked)
  }
}

extension ObjectPath {
  /// The collection that the object is, or is in.
  var ownCollection: ObjectPath {
    ObjectPath("/" + text.split(separator: "/").prefix(5).joined(separator: "/"))
  }
}

extension SecretSession {
  /// The outcome of a request to unlock objects.
  enum Unlocking: Sendable {
    case unlocked
    case refused(SecureStorageError)
    /// The error of a prompt that the user didn't answer in the time of the call that asked.
    case unanswered(SecureStorageError, after: Duration)
    /// An unknown outcome, for example because the call that asked ran out of time.
    case abandoned
  }

  /// Returns the open request that unlocks these objects by the same kind of question, or a new one.
  fileprivate func unlocking(
    _ objects: [ObjectPath], _ interaction: SecretServiceStorage.Interaction
  ) -> (unlocking: SharedOutcome<Unlocking>, isMine: Bool) {
    unlockings.withLock { unlockings in
      if let known = unlockings[interaction]?[Set(objects)] { return (known, false) }
      let new = SharedOutcome<Unlocking>()
      unlockings[interaction, default: [:]][Set(objects)] = new
      return (new, true)
    }
  }

  fileprivate func settle(
    _ unlocking: SharedOutcome<Unlocking>, of objects: [ObjectPath],
    _ interaction: SecretServiceStorage.Interaction, _ value: Unlocking
  ) {
    unlockings.withLock { $0[interaction]?[Set(objects)] = nil }
    unlocking.settle(value)
  }
}
#endif
