// SPDX-License-Identifier: Apache-2.0

package import KeyringRuntime
internal import Synchronization

/// The queues in which callers of one process wait for each other, one for each key, first in, first out.
package final class KeyQueue: Sendable {
  private struct Line: Sendable {
    let semaphore = TaskSemaphore(1)
    /// The number of callers that are first or wait.
    var callers = 0

    mutating func join() -> TaskSemaphore {
      callers += 1
      return semaphore
    }
  }

  private let lines = Mutex<[ItemKey: Line]>([:])

  package init() {}

  /// Waits to be the first in the queue of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The outcome of the wait. After `.ended` alone, the caller is the first one, and has to leave.
  package nonisolated(nonsending) func join(
    _ key: ItemKey, until moment: Int64
  ) async -> Waiter.Outcome {
    let semaphore = lines.withLock { $0[key, default: Line()].join() }
    let outcome = await semaphore.take(until: moment)
    if outcome != .ended { remove(key) }
    return outcome
  }

  /// Lets the next one in the queue of a key be the first.
  package func leave(_ key: ItemKey) { remove(key)?.giveBack() }

  @discardableResult
  private func remove(_ key: ItemKey) -> TaskSemaphore? {
    lines.withLock { lines in
      guard let index = lines.index(forKey: key) else { return nil }
      let semaphore = lines.values[index].semaphore
      lines.values[index].callers -= 1
      if lines.values[index].callers == 0 { lines.remove(at: index) }
      return semaphore
    }
  }
}

extension SecureStorage {
  /// The time that a caller waits for a turn without a limit of its own.
  package static var ordinaryTurnTimeout: Duration { .seconds(12) }

  /// Waits to be the first in the queue of a key.
  ///
  /// - Parameters:
  ///   - queue: The queues.
  ///   - key: The key.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  ///   - operation: The operation that waits.
  ///   - reason: A sentence that says what the others did.
  /// - Throws: `.timedOut` or `.canceled`.
  package nonisolated(nonsending) func join(
    _ queue: KeyQueue, _ key: ItemKey, until moment: Int64,
    during operation: SecureStorageError.Operation = .takeTurn,
    _ reason: String =
      "Another call of this process has its turn to change the item, or waits for it."
  ) async throws(SecureStorageError) {
    let wait = await queue.join(key, until: moment)
    if wait != .ended { throw error(wait, during: operation, reason) }
  }
}
