internal import Synchronization

/// A set of locks that lets only one task at a time work with a key.
///
/// Waiting tasks take turns.
package final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
  /// The waiters for each key in use, the one that has waited longest first.
  private let waiting = Mutex<[Key: Queue<Waiter>]>([:])

  package init() {}

  /// Runs a closure while no other closure runs for the same key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - moment: The moment at which to stop waiting for the others, in microseconds of the monotonic
  ///     clock, or `nil` to wait without a limit.
  ///   - failure: A closure that returns the error to throw if the wait times out or the task is cancelled.
  ///   - body: The closure to run.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body, or `failure`.
  package func withLock<Result, Failure: Error>(
    _ key: Key, until moment: Int64?, failing failure: (Waiter.Outcome) -> Failure,
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let outcome = await lock(key, until: moment)
    guard outcome == .ended else { throw failure(outcome) }
    defer { unlock(key) }
    return try await body()
  }

  private func lock(_ key: Key, until moment: Int64?) async -> Waiter.Outcome {
    let isFree = waiting.withLock { waiting in
      if waiting[key] != nil { return false }
      waiting[key] = Queue()
      return true
    }
    if isFree { return .ended }
    return await Waiter.wait(until: moment) { waiter in
      let isFree = waiting.withLock { waiting in
        waiting[key]?.append(waiter)
        if waiting[key] != nil { return false }
        waiting[key] = Queue()
        return true
      }
      if isFree { waiter.end() }
    }
  }

  private func unlock(_ key: Key) {
    waiting.withLock { waiting in
      // Skip the waiters that have given up.
      while let next = waiting[key]?.popFirst() {
        if next.end() { return }
      }
      waiting[key] = nil
    }
  }
}
