// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The cancellation of a synchronous call, whose result is then unwanted.
///
/// A call that a task awaits may run on a thread of the thread pool, where the task's own cancellation isn't known.
package final class Cancellation: Sendable {
  /// The cancellation of the current call, or `nil` if no task awaits it on another thread.
  @TaskLocal package static var current: Cancellation?

  private struct State: Sendable {
    var isCancelled = false
    var nextID = 0
    var handlers: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// The number of cancelled calls that still exist.
  private static let cancelled = Atomic(0)

  package init() {}

  deinit { if isCancelled { Self.cancelled.subtract(1, ordering: .relaxed) } }

  /// Whether the current call was cancelled.
  ///
  /// It first checks for any cancelled call, which is quicker than finding the task's own one.
  package static var isCurrentCancelled: Bool {
    cancelled.load(ordering: .acquiring) > 0 && current?.isCancelled == true
  }

  /// Whether the call was cancelled.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Calls a handler if the call is cancelled while a closure runs, or at once if it was cancelled before.
  ///
  /// - Parameters:
  ///   - handler: The closure to call, at most once and on any thread. Use it to wake a waiting thread.
  ///   - body: The closure to run. The handler is removed when it returns.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body.
  package func onCancel<Result, Failure: Error>(
    _ handler: @escaping @Sendable () -> Void,
    while body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let id = register(handler)
    if id == nil { handler() }
    // A handler that is being called keeps everything that it needs alive, so it may outlive the body.
    defer { if let id { state.withLock { $0.handlers[id] = nil } } }
    return try body()
  }

  /// Calls a handler when the call is cancelled, or at once if it was cancelled before.
  func onCancelOnce(_ handler: @escaping @Sendable () -> Void) {
    if register(handler) == nil { handler() }
  }

  /// Registers a handler and returns its identifier, or `nil` for a call that is cancelled.
  private func register(_ handler: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      if state.isCancelled { return nil }
      state.nextID += 1
      state.handlers[state.nextID] = handler
      return state.nextID
    }
  }

  package func cancel() {
    let handlers = state.withLock { state in
      if !exchange(&state.isCancelled, with: true) { Self.cancelled.add(1, ordering: .releasing) }
      return exchange(&state.handlers, with: [:])
    }
    for handler in handlers.values { handler() }
  }
}
