// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
internal import Synchronization

/// The library's thread pool for operations that block.
///
/// It has as many threads as there are blocked operations, up to a limit.
package final class BlockingPool: Sendable {
  static let shared = BlockingPool(most: 64)

  /// The threads that wait for the user, and for programs that may ask the user.
  ///
  /// Their number is unlimited: an answer may need another answer. A storage asks one question at a time.
  package static let ofQuestions = BlockingPool(most: .max)

  private struct State: Sendable {
    var bodies = Queue<@Sendable () -> Void>()
    var threads = 0
    var idle = 0
  }

  private let state = Mutex(State())
  private let wakening = Wakening()
  private let most: Int
  private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// Creates a pool.
  ///
  /// - Parameters:
  ///   - most: The largest number of threads.
  ///   - start: A closure that runs another one on a new thread, or returns `false` if there can't be one.
  package init(
    most: Int,
    starting start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
      ThreadExecutor.startThread(named: "swift-keyring b", $0) == nil
    }
  ) {
    (self.most, self.start) = (most, start)
  }

  /// Runs a closure on a thread of the pool as soon as one is free.
  package func run(_ body: @escaping @Sendable () -> Void) {
    let mustStart = state.withLock { state in
      state.bodies.append(body)
      guard state.idle < state.bodies.count, state.threads < most else { return false }
      state.threads += 1
      return true
    }
    wakening.wake()
    guard mustStart else { return }
    if start({ self.serve() }) { return }
    // The system can't start another thread. If the pool has no thread that can run the closures, this
    // thread runs them. Other callers may have relied on the thread that couldn't be started.
    let isAlone = state.withLock { state in
      state.threads -= 1
      return state.threads == 0
    }
    if isAlone { while let body = takeNext() { body() } }
  }

  private func takeNext() -> (@Sendable () -> Void)? {
    let (body, mustWake) = state.withLock { state in
      let body = state.bodies.popFirst()
      return (body, !state.bodies.isEmpty && state.idle > 0)
    }
    // Closures that were added at the same time have woken only one thread, because the signal is made for one.
    if mustWake { wakening.wake() }
    return body
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
      let end = ThreadExecutor.now + Self.idleTime
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

  /// The time that an idle thread waits for work, in microseconds.
  private static let idleTime: Int64 = 5_000_000
}

extension BlockingPool {
  /// Runs code that blocks for a task, and cancels it with the task.
  ///
  /// For a task of a synchronous operation, the code runs at once on its thread.
  ///
  /// - Parameters:
  ///   - pool: The pool whose thread the code blocks, or `nil` for the one that storages share.
  ///   - canceled: The error of a cancellation before the code runs.
  ///   - body: The code. ``Cancellation/current`` cancels it.
  /// - Returns: The result of the code.
  /// - Throws: The errors of the code, `canceled`, or `.other` in a forked process.
  package nonisolated(nonsending) static func run<Result: Sendable>(
    on pool: BlockingPool? = nil, orThrow canceled: SecureStorageError,
    _ body: @escaping @Sendable () throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    if ThreadExecutor.ofCurrentTask?.isSynchronous == true {
      if Task.isCancelled { throw canceled }
      return try body()
    }
    if ForkedProcess.hasLostThreads {
      var error = canceled
      error.code = .other
      error.message = ForkedProcess.message
      error.recoverySuggestion = ForkedProcess.recoverySuggestion
      throw error
    }
    let signal = Cancellation()
    let outcome = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let call = PendingCall<Result>(continuation)
        // A call that waits for a thread ends as soon as it's cancelled.
        signal.onCancelOnce { call.resume(.failure(canceled)) }
        (pool ?? .shared).run(KeyringEvent.inheritingLogger { call.run(body, signal) })
      }
    } onCancel: {
      signal.cancel()
    }
    return try outcome.get()
  }
}

/// A call that was passed to another thread, and begins later.
private final class PendingCall<Result: Sendable>: Sendable {
  typealias Outcome = Swift.Result<Result, SecureStorageError>

  private let continuation: Mutex<UnsafeContinuation<Outcome, Never>?>

  init(_ continuation: UnsafeContinuation<Outcome, Never>) {
    self.continuation = Mutex(continuation)
  }

  /// Ends a call that is still waiting.
  func resume(_ outcome: Outcome) { take()?.resume(returning: outcome) }

  /// Runs a call that is still waiting.
  ///
  /// Once the call runs, the storage handles its cancellation. The signal holds the call to be able to end
  /// it. The call doesn't hold the signal in return.
  func run(_ body: () throws(SecureStorageError) -> Result, _ signal: Cancellation) {
    guard let continuation = take() else { return }
    Cancellation.$current.withValue(signal) {
      continuation.resume(returning: Outcome(catching: body))
    }
  }

  private func take() -> UnsafeContinuation<Outcome, Never>? {
    continuation.withLock { exchange(&$0, with: nil) }
  }
}
