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
    let arguments = try await connection.arguments(
      of: .completed(prompt, sender: provider.uniqueName), until: deadline
    ) { () async throws(DBusError) in
      for result in try await send([message], until: deadline) {
        if case .failure(let failure) = result, failure.isUnknownObject(of: message) {
          return false
        }
        _ = try result.get()
      }
      return true
    }
    return arguments.map(PromptOutcome.init)
  }
}

extension SecretSession {
  /// Returns `true` if the user can't have seen a prompt that was dismissed.
  ///
  /// That's so if the program that shows the provider's prompts isn't running.
  func isPrompterMissing(until deadline: Deadline) async throws(DBusError) -> Bool {
    guard let prompter = provider.prompter else { return false }
    return try await owner(of: prompter, until: deadline) == nil
  }
}

extension SecretSession.PromptOutcome {
  /// Reads the arguments of the signal `Completed`: a flag for a dismissed prompt, and the result.
  ///
  /// Arguments of another type also end the prompt, but they aren't a usable result.
  fileprivate init(_ arguments: Variant) {
    guard arguments.isOfType("(bv)") else {
      self = .completed(arguments)
      return
    }
    self = arguments.child(0).bool ? .dismissed : .completed(arguments.child(1).child(0))
  }
}

extension BusSignal {
  fileprivate static func completed(_ prompt: ObjectPath, sender: String) -> BusSignal {
    BusSignal(
      sender: sender, interface: MethodCall.promptInterface, member: "Completed", object: prompt)
  }
}
#endif
