// SPDX-License-Identifier: Apache-2.0

package import KeyringRuntime

// The errors of operations that can't wait, or whose wait fails.

extension SecureStorage {
  /// Returns the error of an operation whose wait for other operations has failed.
  ///
  /// - Parameters:
  ///   - wait: The outcome of the wait.
  ///   - operation: The operation that fails.
  ///   - reason: A sentence that says what the others did.
  /// - Returns: The error.
  package func error(
    _ wait: Waiter.Outcome, during operation: SecureStorageError.Operation, _ reason: String
  ) -> SecureStorageError {
    switch wait {
    case .canceled: error(.canceled, during: operation)
    case .failed(let shortage): error(shortage, during: operation)
    case .timedOut, .ended:
      error(
        .timedOut, during: operation, message: reason,
        recoverySuggestion: "Try again when the others have ended.")
    }
  }

  /// Returns the error of an operation for which a thread or a file descriptor is missing.
  package func error(
    _ shortage: Shortage, during operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    error(
      .other, during: operation, message: shortage.message,
      recoverySuggestion: shortage.recoverySuggestion, underlying: shortage.underlying)
  }

  /// Throws `.canceled` in a cancelled task.
  package func checkCancellation(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    if Task.isCancelled { throw error(.canceled, during: operation) }
  }

  /// Throws in a process that was forked after the use of a storage.
  package func refuseForkedProcess(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    guard ForkedProcess.hasLostThreads else { return }
    throw error(
      .other, during: operation, message: ForkedProcess.message,
      recoverySuggestion: ForkedProcess.recoverySuggestion)
  }
}
