internal import Synchronization

/// The library's own threads for operations that block: as many as are blocked, up to a limit.
final class BlockingPool: Sendable {
  static let shared = BlockingPool(most: 64)

  private struct State: Sendable {
    var bodies = Queue<@Sendable () -> Void>()
    var threads = 0
    var idle = 0
  }

  private let state = Mutex(State())
  private let wakening = Wakening()
  private let most: Int

  init(most: Int) { self.most = most }

  /// Has a thread run something, as soon as one is free.
  func run(_ body: @escaping @Sendable () -> Void) {
    let mustStart = state.withLock { state in
      state.bodies.append(body)
      guard state.idle < state.bodies.count, state.threads < most else {
        return false
      }
      state.threads += 1
      return true
    }
    wakening.wake()
    guard mustStart else { return }
    if ThreadExecutor.startThread(named: "swift-keyring b", { self.serve() }) { return }
    // A system without another thread: another one of the pool will run it, or this one must.
    if state.withLock({ state in
      state.threads -= 1
      return state.threads == 0
    }) {
      takeNext()?()
    }
  }

  private func takeNext() -> (@Sendable () -> Void)? {
    state.withLock { $0.bodies.popFirst() }
  }

  private func serve() {
    while true {
      while let body = takeNext() { body() }
      let mustWait = state.withLock { state in
        guard state.bodies.isEmpty else { return false }
        state.idle += 1
        return true
      }
      guard mustWait else { continue }
      let end = ThreadExecutor.now + Self.patience
      wakening.wait(until: end)
      let isOver = state.withLock { state in
        state.idle -= 1
        guard state.bodies.isEmpty, ThreadExecutor.now >= end else { return false }
        state.threads -= 1
        return true
      }
      if isOver { return }
    }
  }

  /// The time that a thread waits for something to do, in microseconds.
  private static let patience: Int64 = 5_000_000
}

extension SecureStorage {
  /// Runs an operation that blocks, on a thread of the pool unless the storage is quick, and ends it with the
  /// task.
  ///
  /// - Parameters:
  ///   - operation: The operation, for the error.
  ///   - body: The operation; ``CancellationSignal/current`` is what cancels it.
  /// - Returns: What the operation has returned.
  /// - Throws: What the operation throws, and `.canceled`.
  package nonisolated(nonsending) func blocking<Result: Sendable>(
    _ operation: SecureStorageError.Operation,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    if self is any ImmediateStorage || ThreadExecutor.current?.isSynchronous == true {
      try checkCancellation(operation)
      return try body()
    }
    let signal = CancellationSignal()
    let canceled = SecureStorageError(.canceled, operation: operation, backend: backendName)
    let outcome = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let call = PendingCall<Result>(continuation)
        // A call that waits for a thread is over as soon as it is cancelled.
        signal.onCancelOnce { call.resume(.failure(canceled)) }
        BlockingPool.shared.run { call.run(body, signal) }
      }
    } onCancel: {
      signal.cancel()
    }
    return try outcome.get()
  }
}

/// A call that was handed to another thread, and has not begun there yet.
private final class PendingCall<Result: Sendable>: Sendable {
  typealias Outcome = Swift.Result<Result, SecureStorageError>

  private let continuation: Mutex<UnsafeContinuation<Outcome, Never>?>

  init(_ continuation: UnsafeContinuation<Outcome, Never>) {
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

  private func take() -> UnsafeContinuation<Outcome, Never>? {
    continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
  }
}
