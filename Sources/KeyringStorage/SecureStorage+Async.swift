internal import Dispatch
internal import Synchronization

// The asynchronous twins of the storage's operations: the same names, called with `await`.

extension SecureStorage {
  /// Stores an item under its key, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled;
  ///   the item may have been stored all the same then.
  public func save(_ item: SecureItem, _ mode: SaveMode) async throws(SecureStorageError) {
    try await offThread(.save) { () throws(SecureStorageError) in try save(item, mode) }
  }

  /// Finds items, newest first, without blocking the task's thread.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled.
  public func items(matching query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    try await offThread(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Removes items for good, without blocking the task's thread.
  ///
  /// - Parameter query: Which items. One that names nothing is refused.
  /// - Returns: How many items were removed.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled;
  ///   items may have been removed all the same then.
  @discardableResult
  public func removeItems(matching query: ItemQuery) async throws(SecureStorageError) -> Int {
    try await offThread(.remove) { () throws(SecureStorageError) in
      try removeItems(matching: query)
    }
  }

  /// Runs a synchronous operation on a thread that may block, and ends it with the task.
  ///
  /// This is how an asynchronous twin is made of any operation.
  ///
  /// - Parameters:
  ///   - operation: What to call it in an error.
  ///   - body: The operation; ``CancellationSignal/current`` is what cancels it.
  /// - Returns: What it returned.
  /// - Throws: What it threw, and `.canceled`.
  public func offThread<Result: Sendable>(
    _ operation: SecureStorageError.Operation,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let signal = CancellationSignal()
    let canceled = SecureStorageError(.canceled, operation: operation, backend: backendName)
    let result: Swift.Result<Result, SecureStorageError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let call = PendingCall<Result>(continuation)
        // A call that waits for a thread is over as soon as it is cancelled.
        signal.onCancelOnce { call.resume(.failure(canceled)) }
        // The cooperative pool has as many threads as there are processors: none to block. And so
        // has Dispatch for concurrent queues; a serial one of its own brings a thread of its own.
        DispatchQueue(label: "swift-keyring").async { call.run(body, signal) }
      }
    } onCancel: {
      signal.cancel()
    }
    return try result.get()
  }
}

/// A call that was handed to another thread, and has not begun there yet.
private final class PendingCall<Result: Sendable>: Sendable {
  typealias Outcome = Swift.Result<Result, SecureStorageError>

  private let continuation: Mutex<CheckedContinuation<Outcome, Never>?>

  init(_ continuation: CheckedContinuation<Outcome, Never>) {
    self.continuation = Mutex(continuation)
  }

  /// Ends the call unless it has begun or ended.
  func resume(_ outcome: Outcome) { take()?.resume(returning: outcome) }

  /// Runs the call unless it has ended; cancelling it is then up to the storage.
  ///
  /// The signal, which holds on to the call in order to end it, is not held in turn.
  func run(_ body: () throws(SecureStorageError) -> Result, _ signal: CancellationSignal) {
    guard let continuation = take() else { return }
    CancellationSignal.$current.withValue(signal) {
      continuation.resume(returning: Outcome { () throws(SecureStorageError) in try body() })
    }
  }

  private func take() -> CheckedContinuation<Outcome, Never>? {
    continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
  }
}
