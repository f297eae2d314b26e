// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

extension SecretSession {
  /// The outcome of a prompt.
  enum PromptOutcome {
    case completed(Variant)
    case dismissed
    /// The provider failed to show the prompt, or to answer.
    case failed(DBusError)
  }

  /// Shows a prompt and waits until the user has answered it.
  ///
  /// If the deadline passes, the prompt stays open: dismissing it aborts some providers.
  ///
  /// - Parameters:
  ///   - prompt: The prompt.
  ///   - collections: The collections that the prompt unlocks, for a prompt that does only that.
  ///   - deadline: The deadline of the call.
  /// - Returns: The outcome, or `nil` for a missing prompt.
  /// - Throws: The error of a provider that leaves, or of a passed deadline.
  func show(
    _ prompt: ObjectPath, unlocking collections: [ObjectPath] = [], until deadline: Deadline
  ) async throws(DBusError) -> PromptOutcome? {
    let completed = BusSignal(
      sender: provider.uniqueName, interface: MethodCall.promptInterface.text, member: "Completed",
      object: prompt)
    var failure: DBusError?
    var takesTime = false
    func ask(again: Bool = false) async throws(DBusError) -> Bool {
      let start = ContinuousClock.now
      let message = MethodCall.show(prompt: prompt)
      let answer = try await connection.send(
        [message], to: provider.uniqueName, until: deadline)[0]
      takesTime = ContinuousClock.now - start > Self.timeToShowPrompt
      guard case .failure(let cause) = answer else { return true }
      if cause.isUnknownObject(of: message) { return false }
      // The prompt may still be in front of the user.
      if again { return true }
      if cause.codeWhileCalling != .other { throw cause }
      failure = cause
      return false
    }
    let arguments = try await connection.arguments(of: completed, until: deadline) {
      () async throws(DBusError) in
      try await ask()
    } unless: { () async throws(DBusError) in
      if provider.completesPrompts || collections.isEmpty { return false }
      if try await areUnlocked(collections, until: deadline) { return true }
      // If the provider waited for the user, the prompt is over.
      return takesTime ? try await !ask(again: true) : false
    }
    guard let arguments else { return failure.map { .failed($0) } }
    // Arguments of another type also end the prompt, but they aren't a usable result.
    guard arguments.isOfType("(bv)") else { return .completed(arguments) }
    return arguments.child(0).bool ? .dismissed : .completed(arguments.child(1).child(0))
  }

  /// The time in which a provider that doesn't wait for the user shows a prompt.
  private static let timeToShowPrompt = Duration.milliseconds(500)

  private func areUnlocked(
    _ collections: [ObjectPath], until deadline: Deadline
  ) async throws(DBusError) -> Bool {
    let answers = try await connection.send(
      collections.map { .isLocked($0) }, to: provider.uniqueName, until: deadline)
    return answers.allSatisfy { (try? $0.get())?.property(ofType: "b")?.bool == false }
  }

  /// Returns `true` for a dismissed prompt that the user can't have seen.
  ///
  /// That's so if the program that shows the provider's prompts isn't running.
  func isPrompterMissing(until deadline: Deadline) async throws(DBusError) -> Bool {
    guard let prompter = provider.prompter else { return false }
    let owner = try await connection.send([.owner(of: prompter)], to: nil, until: deadline)[0]
    if case .failure(let failure) = owner, failure.isWithoutReceiver { return true }
    _ = try owner.get()
    return false
  }
}
#endif
