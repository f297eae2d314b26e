// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations never wait for long, such as one in memory.
///
/// An `await` runs the operation at once, on the executor of the caller.
public protocol ImmediateStorage: SynchronousStorage {}

extension SecureStorage {
  /// Runs a synchronous operation at once, unless the task is cancelled.
  ///
  /// The operation is a closure, because a call in an asynchronous function means the asynchronous overload.
  func immediately<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try checkCancellation(operation)
    return try body()
  }

  /// Throws if the task is cancelled.
  package func checkCancellation(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    if Task.isCancelled { throw error(.canceled, during: operation) }
  }
}
