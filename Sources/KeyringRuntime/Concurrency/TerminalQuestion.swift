// SPDX-License-Identifier: Apache-2.0

package import KeyringCore

/// A question that a task asks at the terminal, apart from the threads of other tasks.
package enum TerminalQuestion {
  /// The permission to ask, for one task at a time.
  package static let turn = TaskSemaphore(1)

  /// Asks for a line, which the terminal hides, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - prompt: The text before the cursor.
  ///   - timeout: The time after which the question gives up, or `nil` to wait for an answer.
  ///   - stopsInBackground: Whether a program in the background stops there and waits for the user, instead
  ///     of failing.
  /// - Returns: The line without its end.
  /// - Throws: `.canceled`, or the errors of a question in a synchronous call.
  package nonisolated(nonsending) static func answer(
    to prompt: String, within timeout: Duration? = nil, stopsInBackground: Bool = true
  ) async throws(SecureStorageError) -> Secret {
    let canceled = SecureStorageError(.canceled, operation: .read, backendName: "Terminal")
    return try await BlockingPool.run(on: .ofQuestions, orThrow: canceled) {
      () throws(SecureStorageError) in
      let signal = Cancellation.current
      func ask() throws(SecureStorageError) -> Secret {
        try Secret.typed(atPrompt: prompt, within: timeout, stopsInBackground: stopsInBackground) {
          signal?.isCancelled == true
        }
      }
      guard let signal else { return try ask() }
      return try signal.onCancel(Secret.lookForCancellation, while: ask)
    }
  }
}
