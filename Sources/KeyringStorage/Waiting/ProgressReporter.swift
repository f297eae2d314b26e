internal import Synchronization

/// Tells an app how far its call has come, without letting the app's code hold up anything but that call.
///
/// The thread of an asynchronous call belongs to all calls, so that one of the pool tells the app, and
/// always the newest state.
package final class ProgressReporter: Sendable {
  private struct State: Sendable {
    /// What is to be told next.
    var latest: (completed: Int, total: Int)?
    /// Whether a thread has been asked to tell it.
    var isQueued = false
    /// Whether the app's code is running.
    var isRunning = false
    var isOver = false
    /// The call that waits for the app's code to return.
    var call: UnsafeContinuation<Void, Never>?
  }

  private let handler: @Sendable (Int, Int) -> Void
  private let state = Mutex(State())

  /// Makes a reporter.
  ///
  /// - Parameter handler: What to call.
  package init(_ handler: @escaping @Sendable (Int, Int) -> Void) { self.handler = handler }

  /// Tells how far the call has come.
  ///
  /// - Parameters:
  ///   - completed: How much is done.
  ///   - total: How much there is to do.
  package func report(_ completed: Int, of total: Int) {
    if ThreadExecutor.current?.isSynchronous == true { return handler(completed, total) }
    let mustBegin = state.withLock { state in
      state.latest = (completed, total)
      defer { state.isQueued = true }
      return !state.isQueued
    }
    if mustBegin { BlockingPool.shared.run { self.tell() } }
  }

  private func tell() {
    while let next = next() { handler(next.completed, next.total) }
  }

  /// What the thread has to tell next; `nil` when there is nothing.
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

  /// Ends the reports, and waits until the app's code has returned.
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
