// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

extension SecureStorage {
  /// Runs a synchronous operation for a task, and cancels it with the task.
  ///
  /// The operation runs on a thread of the thread pool. That of an ``ImmediateStorage``, and one within a
  /// synchronous operation, runs at once on the current thread. An ``AskingStorage`` waits for the user on
  /// other threads.
  ///
  /// - Parameters:
  ///   - operation: The operation that errors name.
  ///   - isAsking: Whether the operation may ask the user.
  ///   - body: The operation. ``CancellationSignal/current`` cancels it.
  /// - Returns: The result of the operation.
  /// - Throws: The errors of the operation, and `.canceled`.
  package nonisolated(nonsending) func blocking<Result: Sendable>(
    _ operation: SecureStorageError.Operation, isAsking: Bool = false,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    if self is any ImmediateStorage {
      try checkCancellation(operation)
      return try body()
    }
    let canceled = error(.canceled, during: operation)
    if let storage = self as? any AskingStorage {
      return try await storage.question.run(isAsking: isAsking, orThrow: canceled, body)
    }
    return try await BlockingPool.run(orThrow: canceled, body)
  }
}
