// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A semaphore that suspends waiting tasks and resumes them in their order.
package final class TaskSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting = Queue<(count: Int, waiter: Waiter)>()
  }

  private let state: Mutex<State>

  /// The number of waiting tasks, and of those that gave up but are still queued behind others.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Creates a semaphore.
  ///
  /// - Parameter limit: The amount that can be taken at a time.
  package init(_ limit: Int) { state = Mutex(State(free: limit)) }

  /// Takes an amount as soon as it's free.
  ///
  /// - Parameters:
  ///   - count: The amount.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil` for any
  ///     time.
  /// - Returns: The outcome of the wait. The amount is taken with `.ended` alone.
  package func take(_ count: Int = 1, until moment: Int64?) async -> Waiter.Outcome {
    let isFree = state.withLock { state in
      guard state.waiting.isEmpty, state.free >= count else { return false }
      state.free -= count
      return true
    }
    if isFree { return .ended }
    let outcome = await Waiter.wait(until: moment) { waiter in
      state.withLock { $0.waiting.append((count, waiter)) }
      // Something may have been given back in the meantime.
      giveBack(0)
    }
    // The free amount may be enough for the next task.
    if outcome != .ended { giveBack(0) }
    return outcome
  }

  /// Gives back an amount that was taken, or takes a negative amount without waiting for it to be free.
  package func giveBack(_ count: Int = 1) {
    state.withLock { state in
      state.free += count
      while let (count, waiter) = state.waiting.first {
        if !waiter.isOver {
          guard state.free >= count else { return }
          if waiter.end() { state.free -= count }
        }
        _ = state.waiting.popFirst()
      }
    }
  }
}
