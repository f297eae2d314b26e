// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

/// Another program that prints a key.
struct KeyProgram: Sendable {
  /// The largest output that is read, in bytes.
  static let largest = 64 << 10

  /// The name or path of the program, and its arguments.
  let words: [String]
  /// The input of the program, or `nil` for the input of this process, such as a terminal.
  var input: Secret?
  /// Whether the program's messages become a part of an error.
  ///
  /// Otherwise they're written to standard error, where the user can see questions.
  var keepsMessages = false

  /// The end of a program.
  struct End: Sendable {
    let output: Secret
    let messages: String
    /// The exit status, or 128 and the number of the signal.
    let status: Int32
  }

  /// Runs the program until it exits.
  ///
  /// If the task is cancelled, a signal ends the program.
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
