// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// The outcome of a prompt.
  enum PromptOutcome {
    case completed(Variant)
    case dismissed
  }

  /// Shows a prompt and waits until the user has answered it.
  ///
  /// If the deadline passes, the prompt stays open: dismissing it aborts some providers.
  ///
  /// - Parameters:
  ///   - prompt: The prompt.
  ///   - deadline: The deadline of the call.
  /// - Returns: The outcome, or `nil` if the prompt doesn't exist or is gone.
  /// - Throws: `DBusError` if the prompt can't be shown, the provider leaves or the deadline passes.
  func show(
    _ prompt: ObjectPath, until deadline: Deadline
  ) async throws(DBusError) -> PromptOutcome? {
    let message = MethodCall.show(prompt: prompt)
    let completed = BusSignal(
      sender: provider.uniqueName, interface: MethodCall.promptInterface, member: "Completed",
      object: prompt)
    let arguments = try await connection.arguments(of: completed, until: deadline) {
      () async throws(DBusError) in
      let answer = try await send([message], until: deadline)[0]
      if case .failure(let failure) = answer, failure.isUnknownObject(of: message) { return false }
      _ = try answer.get()
      return true
    }
    guard let arguments else { return nil }
    // Arguments of another type also end the prompt, but they aren't a usable result.
    guard arguments.isOfType("(bv)") else { return .completed(arguments) }
    return arguments.child(0).bool ? .dismissed : .completed(arguments.child(1).child(0))
  }

  /// Returns `true` if the user can't have seen a prompt that was dismissed.
  ///
  /// That's so if the program that shows the provider's prompts isn't running.
  func isPrompterMissing(until deadline: Deadline) async throws(DBusError) -> Bool {
    guard let prompter = provider.prompter else { return false }
    let owner = try await send([.owner(of: prompter)], until: deadline)[0]
    if case .failure(let failure) = owner, failure.isWithoutReceiver { return true }
    _ = try owner.get()
    return false
  }
}
#endif
