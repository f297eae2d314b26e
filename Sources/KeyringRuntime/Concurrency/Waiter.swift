// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A single wait of an operation.
///
/// It ends once: with the event, at a moment, or by the cancellation of the task.
package final class Waiter: Sendable {
  /// The outcome of a wait.
  package enum Outcome: Sendable, Equatable {
    case ended
    case timedOut
    case canceled
    /// The thread that would end the wait at its moment can't be started.
    case failed(Shortage)
  }

  private enum State {
    case waiting(UnsafeContinuation<Outcome, Never>?)
    case over(Outcome)
  }

  private let state = Mutex(State.waiting(nil))

  package var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

  /// Ends the wait.
  ///
  /// - Parameter outcome: The outcome of the wait.
  /// - Returns: `true` for the first end.
  @discardableResult
  package func end(_ outcome: Outcome = .ended) -> Bool {
    let (isFirst, continuation) = state.withLock { state in
      guard case .waiting(let continuation) = state else {
        return (false, nil as UnsafeContinuation<Outcome, Never>?)
      }
      state = .over(outcome)
      return (true, continuation)
    }
    continuation?.resume(returning: outcome)
    return isFirst
  }

  /// Resumes a task once the wait has ended.
  func park(_ continuation: UnsafeContinuation<Outcome, Never>) {
    let outcome: Outcome? = state.withLock { state in
      if case .over(let outcome) = state { return outcome }
      state = .waiting(continuation)
      return nil
    }
    if let outcome { continuation.resume(returning: outcome) }
  }
}
