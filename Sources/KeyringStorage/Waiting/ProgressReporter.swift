internal import Synchronization

/// Tells an app how far its call has come, without letting the app's code hold up anything but that call.
///
/// The thread of an asynchronous call belongs to all calls, so that one of the pool tells the app, and
/// always the newest state.
package final class ProgressReporter: Sendable {
  private struct State: Sendable {
    var latest: (completed: Int, total: Int)?
    var isReporting = false
    var isOver = false
    /// The call that waits for the last report to end.
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
      defer { state.isReporting = true }
      return !state.isReporting
    }
    if mustBegin {
      BlockingPool.shared.run {
        while let next = self.next() { self.handler(next.completed, next.total) }
      }
    }
  }

  /// Ends the reports, and waits for the one that is under way.
  package func finish() async {
    await withUnsafeContinuation { continuation in
      let mustWait = state.withLock { state in
        state.isOver = true
        if state.isReporting { state.call = continuation }
        return state.isReporting
      }
      if !mustWait { continuation.resume() }
    }
  }

  private func next() -> (completed: Int, total: Int)? {
    var ended: UnsafeContinuation<Void, Never>?
    let next = state.withLock { state -> (completed: Int, total: Int)? in
      defer { state.latest = nil }
      if !state.isOver, let latest = state.latest { return latest }
      state.isReporting = false
      ended = state.call
      return nil
    }
    ended?.resume()
    return next
  }
}
