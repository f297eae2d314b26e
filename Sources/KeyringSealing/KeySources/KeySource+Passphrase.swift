// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringRuntime
public import KeyringStorage

extension KeySource {
  /// Creates a source from a known passphrase.
  ///
  /// The key is derived from the passphrase with scrypt. This takes a quarter to half of a second and 128 MiB
  /// of memory, once for each file that a process opens.
  ///
  /// - Parameter passphrase: The passphrase, of at least one byte.
  /// - Returns: The source.
  public static func passphrase(_ passphrase: Secret) -> KeySource {
    KeySource(.passphrase, cost: .standard) { _ throws(SecureStorageError) in passphrase }
  }

  /// Creates a source that asks for a passphrase at need.
  ///
  /// ```swift
  /// let key = KeySource.passphrase { (request) async throws(SecureStorageError) in
  ///   try Secret.typed(atPrompt: "Passphrase of the \(request.subject): ")
  /// }
  /// ```
  ///
  /// Of several operations that need the passphrase of an existing file at the same time, one asks, and the others
  /// use the answer. After a wrong passphrase, the next operation asks again.
  ///
  /// A synchronous operation blocks its thread during the closure. With a closure that waits for the main actor,
  /// for example to show a dialog, use the storage only with `await`. The closure must not use the storage that
  /// asks, which waits for the closure.
  ///
  /// For a request with the purpose `.creation`, ask twice, as ``KeyRequest`` shows. A mistyped new passphrase would
  /// lock everything.
  ///
  /// A diagnosis of the storage tells that a password protects it. So ask the user.
  ///
  /// - Parameter ask: The closure that returns the passphrase or throws an error, such as `.userCanceled`.
  /// - Returns: The source.
  public static func passphrase(asking ask: @escaping Reading) -> KeySource {
    passphrase(cost: .standard, asking: ask)
  }

  /// Creates a source that asks for a passphrase at the program's terminal.
  ///
  /// It asks twice before something is encrypted for the first time. A program that has no terminal gets
  /// the error `.locked`.
  ///
  /// - Returns: The source.
  public static func typedPassphrase() -> KeySource {
    KeySource(.passphrase, cost: .standard) { (request) async throws(SecureStorageError) in
      if request.purpose == .inspection, let failure = Secret.typingFailure {
        throw request.error(
          .keyNotFound, failure.message, recoverySuggestion: failure.recoverySuggestion)
      }
      try request.refuseInspection(of: "passphrase")
      guard await TerminalQuestion.turn.take(until: nil) == .ended else {
        throw request.error(.canceled)
      }
      defer { TerminalQuestion.turn.giveBack() }
      do throws(SecureStorageError) {
        if request.purpose == .opening {
          return try await TerminalQuestion.answer(to: "Passphrase of the \(request.subject): ")
        }
        let passphrase = try await TerminalQuestion.answer(
          to: "New passphrase of the \(request.subject): ")
        if try await TerminalQuestion.answer(to: "Repeat the passphrase: ") == passphrase {
          return passphrase
        }
      } catch {
        throw request.error(
          error.code, error.message, recoverySuggestion: error.recoverySuggestion,
          argument: error.code == .invalidArgument ? "passphrase" : nil)
      }
      throw request.error(.invalidArgument, "The two passphrases differ.", argument: "passphrase")
    }.protected(by: .password)
  }

  package static func passphrase(cost: ScryptCost, asking ask: @escaping Reading) -> KeySource {
    KeySource(.passphrase, cost: cost) { (request) async throws(SecureStorageError) in
      try request.refuseInspection(of: "passphrase")
      return try await ask(request)
    }.protected(by: .password)
  }
}
#endif
