internal import Synchronization

/// The outcome of something that one task does, and others wait for.
package final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The outcome, once there is one.
  package var value: Value? { state.withLock { $0.value } }

  /// Waits for the outcome.
  ///
  /// - Parameter moment: When to give up, in microseconds of the monotonic clock; `nil` for never.
  /// - Returns: How the wait has ended.
  package nonisolated(nonsending) func wait(until moment: Int64?) async -> Waiter.Outcome {
    await Waiter.wait(until: moment) { waiter in
      let isThere = state.withLock { state in
        if state.value == nil { state.waiters.append(waiter) }
        return state.value != nil
      }
      if isThere { waiter.end() }
    }
  }

  /// Tells everybody the outcome.
  package func settle(_ value: Value) {
    let waiters = state.withLock { state in
      state.value = value
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.end() }
  }
}
