// SPDX-License-Identifier: Apache-2.0

extension AsynchronousStorage where Self: ObservableStorage {
  /// Runs the asynchronous operation to its end on this thread.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }
}

extension BlockingStorage where Self: ObservableStorage {
  /// Runs the synchronous operation on a thread of the library's thread pool.
  public nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await blocking(.observe) { () throws(SecureStorageError) in try observe(query, observer) }
  }
}

extension ImmediateStorage where Self: ObservableStorage {
  /// Runs the operation at once.
  public nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try checkCancellation(.observe)
    return try { () throws(SecureStorageError) in try observe(query, observer) }()
  }
}
