// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

// The keyring takes these passwords from this program, and shows no prompt.
extension Operation {
  /// Unlocks collections, or those of items, with passwords that the user types at the terminal.
  ///
  /// - Parameters:
  ///   - objects: The collections or items.
  ///   - end: The deadline of the questions.
  /// - Throws: `.locked` if the program can't ask, `.userCanceled` if the user declined, `.wrongKey` after three
  ///   wrong passwords.
  func unlockAtTerminal(
    _ objects: [ObjectPath], until end: Deadline
  ) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      return try await unlockWithoutPrompt(objects)
    } catch {
      guard error.code == .locked else { throw error }
    }
    try await checkTakesPasswords()
    for collection in Set(objects.map(\.ownCollection)) {
      try await taking(turnUntil: end) { () async throws(SecureStorageError) in
        // Another task may have unlocked it while this one waited.
        guard try await isLocked(collection) else { return }
        let label = try await send(.label(ofCollection: collection))?.property(ofType: "s")?.text
        let question = "Password of the keyring \"\((label ?? "").inOneLine)\": "
        try await asking(question, until: end, orThrow: wrongPassword()) {
          (password) async throws(SecureStorageError) in
          try await opens(collection, password) ? nil : "Wrong password."
        }
      }
    }
  }

  /// Unlocks a locked collection with its password.
  func unlock(
    _ collection: ObjectPath, password: Secret
  ) async throws(SecureStorageError) {
    try await checkTakesPasswords()
    guard try await opens(collection, password) else { throw wrongPassword() }
  }

  /// Asks the user at the terminal to choose a password, twice.
  func typedPassword(
    ofNewCollection label: String
  ) async throws(SecureStorageError) -> Secret {
    try await checkTakesPasswords()
    let end = Deadline(after: options.promptTimeout)
    return try await taking(turnUntil: end) { () async throws(SecureStorageError) in
      var chosen = Secret("")
      try await asking(
        "New password of the keyring \"\(label.inOneLine)\": ", until: end,
        orThrow: passwordFailure("No password was chosen.")
      ) { (password) async throws(SecureStorageError) in
        // The keyring would store its secrets without encryption.
        if password.count == 0 { return "The password is empty." }
        guard try await typed("Repeat the password: ", until: end) == password else {
          return "The two passwords differ."
        }
        chosen = password
        return nil
      }
      return chosen
    }
  }

  /// Creates a collection with a password, which is unlocked then.
  func createCollectionWithoutPrompt(
    labeled label: String, aliased alias: String, password: Secret
  ) async throws(SecureStorageError) -> ObjectPath {
    if password.count == 0 { throw passwordFailure("The password must not be empty.") }
    try await checkTakesPasswords()
    hasWritten = true
    let creation = MethodCall.createCollection(labeled: label, password: try encode(password))
    guard let answer = try await send(creation) else { throw unexpectedAnswer("with nothing") }
    let path = ObjectPath(answer.child(0).text)
    if path.isNone { throw unexpectedAnswer("without a collection") }
    if !alias.isEmpty { _ = try await send(.setAlias(alias, to: path)) }
    return path
  }

  /// Tries to unlock a collection with a password, and returns `false` if the password is wrong.
  private func opens(
    _ collection: ObjectPath, _ password: Secret
  ) async throws(SecureStorageError) -> Bool {
    do throws(SecureStorageError) {
      _ = try await send(.unlock(collection, password: encode(password)))
      return true
    } catch {
      let name = provider.errorOfWrongPassword
      guard error.code == .other, name == nil || error.underlying?.domain == name else {
        throw error
      }
      return false
    }
  }

  /// Throws an error for a keyring that refuses passwords from a program, or takes them without encryption.
  private func checkTakesPasswords() async throws(SecureStorageError) {
    let description: String?
    do throws(SecureStorageError) {
      description = try await send(.introspection())?.child(0).text
    } catch {
      guard [.other, .accessDenied].contains(error.code) else { throw error }
      description = nil
    }
    guard description?.contains(Provider.passwordInterface) == true else {
      throw failure(
        .locked, provider.messageWithoutPasswords,
        recoverySuggestion: Provider.suggestionWithoutPasswords,
        underlying: SecureStorageError.Underlying(
          domain: "org.freedesktop.DBus.Error.UnknownInterface", code: 0,
          text: "there is no interface \(Provider.passwordInterface)"))
    }
    // The password of the whole keyring is worth more than the secrets for which a program allows this.
    guard session.isEncrypted else {
      throw failure(
        .notEncrypted, "The keyring doesn't encrypt passwords on the session bus.",
        recoverySuggestion: "Unlock it in your keyring manager or by logging in.")
    }
  }

  private func wrongPassword() -> SecureStorageError {
    failure(
      .wrongKey, "The password of the keyring is wrong.",
      recoverySuggestion: "Try again. It's often the password of an earlier login.")
  }

  private func passwordFailure(_ message: String) -> SecureStorageError {
    failure(
      .invalidArgument, message, recoverySuggestion: "Choose a password.", argument: "password")
  }
}

// MARK: - Questions

extension Operation {
  private static let tries = 3

  /// Asks for a password, and asks again after a bad answer.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - end: The deadline of the questions.
  ///   - failure: The error after the last bad answer.
  ///   - body: A closure that uses the answer, and returns what is bad about it, or `nil`.
  /// - Throws: `failure`, or the error of a question or the closure.
  private func asking(
    _ question: String, until end: Deadline, orThrow failure: SecureStorageError,
    _ body: (Secret) async throws(SecureStorageError) -> String?
  ) async throws(SecureStorageError) {
    var hint = ""
    for _ in 1...Self.tries {
      guard let complaint = try await body(typed(hint + question, until: end)) else { return }
      hint = complaint + "\n"
    }
    throw failure
  }

  /// Asks at the terminal for a line, which stays hidden.
  private func typed(
    _ prompt: String, until end: Deadline
  ) async throws(SecureStorageError) -> Secret {
    do throws(SecureStorageError) {
      return try await asking { () async throws(SecureStorageError) in
        try await TerminalQuestion.answer(
          to: prompt, within: end.remaining, stopsInBackground: false)
      }
    } catch {
      throw failure(error.code, error.message, recoverySuggestion: error.recoverySuggestion)
    }
  }

  /// Runs a closure while no other task asks at the terminal.
  private func taking<Result>(
    turnUntil end: Deadline, _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let wait = await asking { await TerminalQuestion.turn.take(until: end.end) }
    if let failure = wait.failure { throw questionFailure(failure) }
    defer { TerminalQuestion.turn.giveBack() }
    return try await body()
  }
}
#endif
