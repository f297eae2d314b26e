// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The outcome of work that one task does and other tasks wait for.
package final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The outcome, or `nil` if there is none yet.
  package var value: Value? { state.withLock { $0.value } }

  /// Waits for the outcome.
  ///
  /// - Parameter moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil`
  ///   to wait without a limit.
  /// - Returns: The outcome of the wait.
  package nonisolated(nonsending) func wait(until moment: Int64?) async -> Waiter.Outcome {
    await Waiter.wait(until: moment) { waiter in
      let isThere = state.withLock { state in
        if state.value == nil { state.waiters.append(waiter) }
        return state.value != nil
      }
      if isThere { waiter.end() }
    }
  }

  /// Sets the outcome and ends all waits for it.
  package func settle(_ value: Value) {
    let waiters = state.withLock { state in
      state.value = value
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.end() }
  }
}
