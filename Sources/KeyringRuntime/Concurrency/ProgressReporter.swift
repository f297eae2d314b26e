// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A reporter that tells an app about the progress of its call.
///
/// The app's code delays that call alone. All asynchronous calls share one thread, so a thread of the thread
/// pool calls the app. It always reports the latest progress.
package final class ProgressReporter: Sendable {
  private struct State: Sendable {
    /// The progress to report next.
    var latest: (completed: Int, total: Int)?
    /// Whether a thread was asked to report it.
    var isQueued = false
    /// Whether the app's code is running.
    var isRunning = false
    var isOver = false
    /// The call that waits for the app's code to return.
    var call: UnsafeContinuation<Void, Never>?
  }

  private let handler: @Sendable (Int, Int) -> Void
  private let state = Mutex(State())

  /// Creates a reporter.
  ///
  /// - Parameter handler: The closure to call with the completed and the total amount.
  package init(_ handler: @escaping @Sendable (Int, Int) -> Void) { self.handler = handler }

  /// Reports the progress of the call.
  ///
  /// - Parameters:
  ///   - completed: The completed amount.
  ///   - total: The total amount.
  package func report(_ completed: Int, of total: Int) {
    if ThreadExecutor.current?.isSynchronous == true { return handler(completed, total) }
    let mustBegin = state.withLock { state in
      state.latest = (completed, total)
      return !exchange(&state.isQueued, with: true)
    }
    if mustBegin { BlockingPool.shared.run { self.callHandler() } }
  }

  private func callHandler() { while let next = next() { handler(next.completed, next.total) } }

  /// Returns the progress that the thread has to report next, if any.
  private func next() -> (completed: Int, total: Int)? {
    var call: UnsafeContinuation<Void, Never>?
    let next = state.withLock { state -> (completed: Int, total: Int)? in
      let next = state.isOver ? nil : state.latest
      state.latest = nil
      state.isRunning = next != nil
      if next == nil { (state.isQueued, call, state.call) = (false, state.call, nil) }
      return next
    }
    call?.resume()
    return next
  }

  /// Ends the reports and waits until the app's code has returned.
  package func finish() async {
    await withUnsafeContinuation { continuation in
      let mustWait = state.withLock { state in
        state.isOver = true
        if state.isRunning { state.call = continuation }
        return state.isRunning
      }
      if !mustWait { continuation.resume() }
    }
  }
}
