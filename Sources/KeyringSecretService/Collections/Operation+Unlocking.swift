// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

extension Operation {
  /// Unlocks items or collections, asking the user if that is allowed.
  ///
  /// Calls that need the same objects unlocked share one prompt and its answer.
  ///
  /// - Parameter objects: The items or collections to unlock.
  /// - Throws: `.locked` where the user can't be asked, `.userCanceled` after the user declined.
  func unlock(_ objects: [ObjectPath]) async throws(SecureStorageError) {
    if objects.isEmpty { return }
    guard options.interaction != .never else { return try await unlockWithoutPrompt(objects) }
    let deadline = Deadline(after: options.longestOperation)
    let question = Deadline(after: options.promptTimeout)
    while true {
      let (unlocking, isMine) = session.unlocking(objects, options.interaction)
      if isMine { return try await unlock(objects, for: unlocking, until: question) }
      let wait = await asking { await unlocking.wait(until: deadline.end) }
      if let failure = wait.failure { throw questionFailure(failure) }
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
      session.settle(unlocking, .unlocked)
    } catch {
      let outcome: SecretSession.Unlocking =
        switch error.code {
        // The time of the prompt has passed, and not that of the keyring's answers.
        case .timedOut where deadline.failure == nil:
          .unanswered(error, after: options.promptTimeout)
        case .timedOut, .locked, .userCanceled, .wrongKey, .notEncrypted: .refused(error)
        default: .abandoned
        }
      session.settle(unlocking, outcome)
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
#endif
