#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// How a prompt ended.
  enum PromptOutcome {
    case completed(Variant)
    case dismissed
  }

  /// Shows a prompt and waits until the user has answered it.
  ///
  /// A prompt whose time is up is left alone: dismissing it aborts gnome-keyring 42. The provider's
  /// name is watched, because a provider that dies says nothing more about its prompt.
  ///
  /// - Parameters:
  ///   - prompt: The prompt.
  ///   - deadline: When to give up.
  /// - Returns: How it ended; `nil` when it does not exist (any more).
  /// - Throws: That the prompt cannot be shown, that the provider left, or that time is up.
  func show(
    _ prompt: ObjectPath, until deadline: Deadline
  ) async throws(BusFailure) -> PromptOutcome? {
    var outcome: PromptOutcome?
    var providerHasLeft = false
    var waiter: Waiter?
    let subscriptions = [
      subscribe(to: .completed(prompt, sender: provider.uniqueName)) {
        outcome = PromptOutcome($0)
        waiter?.end()
      },
      subscribe(to: .ownerChanged(of: provider.uniqueName)) { _ in
        providerHasLeft = true
        waiter?.end()
      },
    ]
    defer { for unsubscribe in subscriptions { unsubscribe() } }

    let message = Message.show(prompt: prompt)
    for result in try await send([message], until: deadline) {
      if case .failure(let failure) = result, failure.isUnknownObject(of: message) { return nil }
      _ = try result.get()
    }
    while outcome == nil, !providerHasLeft, !isClosed {
      if let failure = deadline.failure { throw failure }
      // A bus that ends the connection signals nothing here.
      try? await Waiter.wait(until: deadline.atMost(.seconds(1))) { waiter = $0 }
    }
    guard let outcome else {
      throw BusFailure(
        domain: "secret", code: 0, text: "the provider left while its prompt was shown",
        remoteName: "org.freedesktop.DBus.Error.NoReply")
    }
    return outcome
  }
}

extension SecretSession {
  /// Tells whether a prompt that was dismissed was never in front of anybody.
  func lacksPrompter(until deadline: Deadline) async throws(BusFailure) -> Bool {
    guard let prompter = provider.prompter else { return false }
    return try await owner(of: prompter, until: deadline) == nil
  }
}

extension SecretSession.PromptOutcome {
  /// Reads the arguments of the signal Completed: whether dismissed, and the result.
  ///
  /// Arguments of another type end the prompt too; as a result they are no use to anybody.
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
      sender: sender, interface: Message.promptInterface, member: "Completed", object: prompt)
  }

  static func ownerChanged(of name: String) -> BusSignal {
    BusSignal(
      sender: Message.bus, interface: Message.bus, member: "NameOwnerChanged", firstArgument: name)
  }
}
#endif
