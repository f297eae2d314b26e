// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension KeySource {
  /// Creates a source from a command that prints the key.
  ///
  /// ```swift
  /// let key = KeySource.command(["vault", "read", "-field=key", "secret/example"])
  /// ```
  ///
  /// The command runs each time that the key is needed. It has the input, the error output and the
  /// environment of this program, so it can ask a question at the terminal. Everything that it prints to its
  /// standard output is the key. Any exit status but 0 is an error.
  ///
  /// Everyone who can run the command has the key.
  ///
  /// - Parameter words: The name or path of the program, and its arguments. No shell reads them. The command
  ///   must print at least 32 bytes that can't be guessed, and the same bytes each time.
  /// - Returns: The source.
  public static func command(_ words: [String]) -> KeySource {
    KeySource(named: "command") { (request) async throws(SecureStorageError) in
      try await request.output(of: words)
    }
  }

  /// Creates a source from a command that prints a passphrase.
  ///
  /// The command runs each time that the passphrase is needed, for example `["pass", "show", "example"]`. It
  /// has the input, the error output and the environment of this program. A line break at the end of its
  /// output isn't part of the passphrase. Any exit status but 0 is an error.
  ///
  /// Everyone who can run the command has the passphrase.
  ///
  /// - Parameter words: The name or path of the program, and its arguments. No shell reads them.
  /// - Returns: The source.
  public static func passphrase(command words: [String]) -> KeySource {
    KeySource(.passphrase, cost: .standard) { (request) async throws(SecureStorageError) in
      let output = try await request.output(of: words)
      let endsWithLineBreak = output.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
      return endsWithLineBreak ? output[0..<output.count - 1] : output
    }
  }
}

extension KeyRequest {
  fileprivate func output(of words: [String]) async throws(SecureStorageError) -> Secret {
    // The command could ask the user.
    try refuseInspection()
    let end = try await KeyProgram(words: words).run(for: self)
    guard end.status == 0 else {
      throw error(
        .keyNotFound, "The command \(words.first ?? "") ended with status \(end.status).",
        recoverySuggestion: "Run the command by hand, and read its output.")
    }
    return end.output
  }
}

extension KeyProgram {
  /// Runs the program to its end.
  ///
  /// In a cancelled task, a signal ends the program.
  func run(for request: KeyRequest) async throws(SecureStorageError) -> End {
    try await BlockingPool.run(on: .ofQuestions, orThrow: request.error(.canceled)) {
      () throws(SecureStorageError) in
      do throws(FileFailure) {
        let child = try ChildProcess(self)
        guard let signal = Cancellation.current else { return try child.read() }
        let end = try signal.onCancel({ child.end() }, while: child.read)
        if !signal.isCancelled { return end }
      } catch {
        if !Cancellation.isCurrentCancelled { throw failure(error, request) }
      }
      throw request.error(.canceled)
    }
  }

  private func failure(_ cause: FileFailure, _ request: KeyRequest) -> SecureStorageError {
    let command = words.first.map { "command \($0)" } ?? "command"
    let isMissing = cause.isMissing || cause.code == .accessDenied
    return request.error(
      .other, "The \(command) \(cause.problem).",
      recoverySuggestion: isMissing ? "Install it, or correct its name." : nil,
      underlying: cause.underlying)
  }
}
#endif
