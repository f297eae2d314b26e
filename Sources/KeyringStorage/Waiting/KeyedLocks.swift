internal import Synchronization

/// Keeps two tasks from doing something with the same key at the same time; those that wait take turns.
package final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
  /// Who waits for each key that somebody has, the longest waiting first.
  private let waiting = Mutex<[Key: Queue<Waiter>]>([:])

  package init() {}

  /// Runs something while nobody else does so for this key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - moment: When to stop waiting for the others, in microseconds of the monotonic clock; `nil` for
  ///     never.
  ///   - failure: What to throw then, or when the task is cancelled.
  ///   - body: What to run.
  /// - Returns: What it returned.
  /// - Throws: What it threw, or `failure`.
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
      // Whoever has given up is passed over.
      while let next = waiting[key]?.popFirst() {
        if next.end() { return }
      }
      waiting[key] = nil
    }
  }
}
