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
    let outcome = SharedOutcome<Swift.Result<Result, SecureStorageError>>()
    await (pool ?? .shared).runToEnd { outcome.settle(Swift.Result(catching: body)) }
    guard let outcome = outcome.value else { throw canceled }
    return try outcome.get()
  }

  /// Runs a closure on a thread, unless the task is cancelled before it begins.
  ///
  /// It isn't generic, so that it's compiled once for the results of all calls.
  private nonisolated(nonsending) func runToEnd(_ body: @escaping @Sendable () -> Void) async {
    let signal = Cancellation()
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let call = PendingCall(continuation)
        // A call that waits for a thread ends as soon as it's cancelled. The call doesn't hold the signal in return.
        signal.onCancelOnce { call.take()?.resume() }
        run(
          KeyringEvent.inheritingLogger {
            guard let continuation = call.take() else { return }
            Cancellation.$current.withValue(signal, operation: body)
            continuation.resume()
          })
      }
    } onCancel: {
      signal.cancel()
    }
  }
}

/// A call that was passed to another thread, and begins later.
private final class PendingCall: Sendable {
  private let continuation: Mutex<UnsafeContinuation<Void, Never>?>

  init(_ continuation: UnsafeContinuation<Void, Never>) {
    self.continuation = Mutex(continuation)
  }

  /// Returns what ends the call for the one who runs or cancels it first, and `nil` for others.
  func take() -> UnsafeContinuation<Void, Never>? {
    continuation.withLock { exchange(&$0, with: nil) }
  }
}
