// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

extension Secret {
  /// Asks for a line of text at the program's terminal, which hides what is typed.
  ///
  /// The method blocks its thread. The terminal shows input again afterwards, also after a signal such as
  /// that of Ctrl-C.
  ///
  /// ```swift
  /// let passphrase = try Secret.typed(atPrompt: "Passphrase: ")
  /// ```
  ///
  /// - Parameter prompt: The text before the cursor, for example "Passphrase: ".
  /// - Returns: The line without its end.
  /// - Throws: `.locked` in a program that has no terminal, `.userCanceled` after Esc or an input that ends
  ///   early, and `.invalidArgument` for a line longer than the terminal accepts.
  public static func typed(atPrompt prompt: String) throws(SecureStorageError) -> Secret {
    try typed(atPrompt: prompt) { false }
  }

  /// Asks for a line of text at the program's terminal, until the question is cancelled.
  ///
  /// - Parameters:
  ///   - prompt: The text before the cursor.
  ///   - timeout: The time after which the question gives up, or `nil` to wait for an answer.
  ///   - stopsInBackground: Whether a program in the background stops there and waits for the user, instead
  ///     of failing.
  ///   - isCancelled: A closure that is called before the question, and after ``lookForCancellation()``.
  /// - Returns: The line without its end.
  /// - Throws: `.canceled`, `.timedOut`, `.locked` in the background, or the errors of ``typed(atPrompt:)``.
  package static func typed(
    atPrompt prompt: String, within timeout: Duration? = nil, stopsInBackground: Bool = true,
    unless isCancelled: () -> Bool
  ) throws(SecureStorageError) -> Secret {
    let end = timeout.map { SuspendingClock.now + $0 }
    // Two questions at the same time would mix.
    let result = HiddenInput.onlyOne.withLock { _ in
      Result { () throws(SecureStorageError) in
        let terminal = Terminal.openControlling()
        defer { if terminal >= 0 { close(terminal) } }
        var shown = termios()
        // A program in the background stops until the user brings it to the foreground. Until then, the terminal
        // has the state of the shell.
        if terminal >= 0, !Terminal.isInForeground(of: terminal) {
          guard stopsInBackground else { throw HiddenInput.inBackground }
          Terminal.stopInBackground(of: terminal)
        }
        guard terminal >= 0, Terminal.isInForeground(of: terminal),
          unsafe tcgetattr(terminal, &shown) == 0
        else {
          throw noTerminal
        }
        return try HiddenInput(
          prompt: prompt, terminal: Terminal(descriptor: terminal, shown: shown), end: end,
          stopsInBackground: stopsInBackground
        ).secret(unless: isCancelled)
      }
    }
    return try result.get()
  }

  /// Makes the question at the terminal check whether it was cancelled.
  package static func lookForCancellation() { SignalPipe.passOn(SignalPipe.noSignal) }

  /// The error for a program that has no terminal, or `nil` for one that has.
  package static var typingFailure: SecureStorageError? {
    let terminal = Terminal.openControlling()
    if terminal < 0 { return noTerminal }
    close(terminal)
    return nil
  }

  private static var noTerminal: SecureStorageError {
    HiddenInput.error(
      .locked, "The program has no terminal at which it can ask.", "Start it in a terminal.")
  }
}
