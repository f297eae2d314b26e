// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The outcome of work that one task does and other tasks wait for.
package final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [Waiter] = []
    /// The moment to which waits with an earlier limit are extended.
    var extendedEnd: Int64 = .min
  }

  private let state = Mutex(State())

  package init() {}

  /// The outcome so far.
  package var value: Value? { state.withLock { $0.value } }

  /// Waits for the outcome.
  ///
  /// - Parameter moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil` for
  ///   any time. ``extendWaits(to:)`` postpones it.
  /// - Returns: The outcome of the wait.
  package nonisolated(nonsending) func wait(until moment: Int64?) async -> Waiter.Outcome {
    var moment = moment
    while true {
      let outcome = await Waiter.wait(until: moment) { waiter in
        let isThere = state.withLock { state in
          if state.value == nil { state.waiters.append(waiter) }
          return state.value != nil
        }
        if isThere { waiter.end() }
      }
      let extendedEnd = state.withLock(\.extendedEnd)
      guard outcome == .timedOut, let end = moment, extendedEnd > end else { return outcome }
      moment = extendedEnd
    }
  }

  /// Makes all waits last at least to a moment.
  package func extendWaits(to moment: Int64) { state.withLock { $0.extendedEnd = moment } }

  /// Sets the outcome and ends all waits for it.
  package func settle(_ value: Value) {
    let waiters = state.withLock { state in
      state.value = value
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.end() }
  }
}
