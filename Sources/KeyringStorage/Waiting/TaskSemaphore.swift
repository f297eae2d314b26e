internal import Synchronization

/// A semaphore that suspends the tasks that wait, and lets them in in their order.
package final class TaskSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting = Queue<(count: Int, waiter: Waiter)>()
  }

  private let state: Mutex<State>

  /// The number of tasks that wait, or have waited in vain behind others.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Makes a semaphore.
  ///
  /// - Parameter limit: How much may be taken at a time.
  package init(_ limit: Int) { state = Mutex(State(free: limit)) }

  /// Takes something as soon as it is free.
  ///
  /// - Parameters:
  ///   - count: How much.
  ///   - moment: When to give up, in microseconds of the monotonic clock; `nil` for never.
  /// - Returns: How the wait has ended; nothing is taken unless that is by its turn.
  package func take(_ count: Int = 1, until moment: Int64?) async -> Waiter.Outcome {
    let isFree = state.withLock { state in
      guard state.waiting.isEmpty, state.free >= count else { return false }
      state.free -= count
      return true
    }
    if isFree { return .ended }
    let outcome = await Waiter.wait(until: moment) { waiter in
      state.withLock { $0.waiting.append((count, waiter)) }
      // Something may have been given back since.
      giveBack(0)
    }
    // There may be enough for the next one.
    if outcome != .ended { giveBack(0) }
    return outcome
  }

  /// Gives back what was taken.
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
