// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension Operation {
  /// Returns the object that a method has created, at once or after the user's answer to its prompt.
  ///
  /// - Parameters:
  ///   - answer: The answer of the method: the object, or "/" and a prompt.
  ///   - kind: A word for the object.
  /// - Returns: The object.
  /// - Throws: `.locked` where the user can't be asked, `.userCanceled` after the user declined.
  func created(_ answer: Variant, _ kind: String) async throws(SecureStorageError) -> ObjectPath {
    let path = ObjectPath(answer.child(0).text)
    guard path.isNone else { return path }
    let result = try await self.answer(to: ObjectPath(answer.child(1).text))
    let object = ObjectPath(result.isOfType("o") ? result.text : "/")
    if object.isNone { throw unexpectedAnswer("without a \(kind)") }
    return object
  }

  /// Shows the prompt in a method's answer and waits for the user's answer, if there is one.
  func finish(_ prompt: Variant) async throws(SecureStorageError) {
    let prompt = ObjectPath(prompt.text)
    if !prompt.isNone { _ = try await answer(to: prompt) }
  }

  /// Shows a prompt and waits for the user's answer, if asking is allowed.
  ///
  /// - Parameter prompt: The prompt in a method's answer.
  /// - Returns: The result that the method would have given without a prompt.
  /// - Throws: `.locked` where the user can't be asked, `.userCanceled` after the user declined.
  func answer(to prompt: ObjectPath) async throws(SecureStorageError) -> Variant {
    if let result = try await answer(toExisting: prompt) { return result }
    throw unexpectedAnswer("with a prompt that doesn't exist")
  }

  /// Shows a prompt and waits for the user's answer, or returns `nil` for a missing prompt.
  ///
  /// The prompt may be over already. The default end is that of a new prompt.
  func answer(
    toExisting prompt: ObjectPath, unlocking collections: [ObjectPath] = [],
    until end: Deadline? = nil
  ) async throws(SecureStorageError) -> Variant? {
    guard options.interaction == .allowed else {
      throw failure(
        .locked,
        options.interaction == .terminal
          ? "The keyring needs to ask the user in a window, and this storage asks only at the terminal."
          : "The keyring needs to ask the user, but this storage doesn't allow prompts.")
    }
    let outcome: SecretSession.PromptOutcome?
    let noUserWasAsked: Bool
    do throws(DBusError) {
      outcome = try await asking { () async throws(DBusError) in
        try await session.show(
          prompt, unlocking: collections, until: end ?? Deadline(after: options.promptTimeout))
      }
      noUserWasAsked =
        if case .dismissed = outcome { try await session.isPrompterMissing(until: deadline) } else {
          false
        }
    } catch {
      throw questionFailure(error)
    }
    switch outcome {
    case .completed(let result): return result
    case .dismissed where noUserWasAsked:
      throw failure(
        .locked, "The keyring needs to ask the user, but no program shows its prompt.",
        recoverySuggestion: Provider.withoutPrompter)
    case .dismissed: throw failure(.userCanceled)
    case .failed(let cause):
      throw failure(
        .locked, "The keyring needs to ask the user, but its prompt failed: \(cause.text)",
        recoverySuggestion: Provider.withoutPrompter, underlying: cause.underlying)
    case nil: return nil
    }
  }

  /// Returns the error for a failed wait for the user's answer.
  func questionFailure(_ cause: DBusError) -> SecureStorageError {
    let isLate = cause.codeWhileCalling == .timedOut
    var error = failure(cause, isLate ? "The keyring's prompt wasn't answered in time." : nil)
    if isLate { error.recoverySuggestion = "Try again, and answer the prompt." }
    return error
  }

  /// Runs a closure that takes the user's time, which is added to the operation's.
  func asking<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    whenAsking(true)
    KeyringEvent.report(.userAwaited(operation, backend: storage.backendName))
    let pause = Deadline.Pause()
    defer {
      deadline.add(pause)
      whenAsking(false)
    }
    return try await ThreadExecutor.waitingForUser(body)
  }
}
#endif
