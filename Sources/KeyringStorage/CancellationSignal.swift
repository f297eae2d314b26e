internal import Synchronization

/// What tells a storage, in the middle of a synchronous call, that nobody wants the result any more.
///
/// An `await` on a ``BlockingStorage`` runs the operation that blocks on a thread of the library's own, and
/// cancelling the task reaches it through ``current``. A storage that waits for something ends the wait and
/// throws `.canceled`.
public final class CancellationSignal: Sendable {
  /// The signal for the call that this thread is in; `nil` where no task awaits a storage that blocks.
  @TaskLocal public static var current: CancellationSignal?

  private struct State: Sendable {
    var isCancelled = false
    var nextID = 0
    var handlers: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// How many signals there are that were cancelled.
  private static let cancelled = Atomic(0)

  package init() {}

  deinit {
    if isCancelled { Self.cancelled.subtract(1, ordering: .relaxed) }
  }

  /// Whether the call that this thread is in was cancelled.
  ///
  /// To find a task's own signal takes longer than to see that none was cancelled.
  package static var isCurrentCancelled: Bool {
    cancelled.load(ordering: .acquiring) > 0 && current?.isCancelled == true
  }

  /// Whether the call was cancelled.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Has a closure called when the call is cancelled, or at once if it has been.
  ///
  /// - Parameters:
  ///   - handler: Called at most once, on any thread; what a waiting thread is woken with.
  ///   - body: What to do meanwhile; the handler is forgotten when it returns.
  /// - Returns: What the body returned.
  /// - Throws: What the body threw.
  public func onCancel<Result, Failure: Error>(
    _ handler: @escaping @Sendable () -> Void,
    while body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let id = register(handler)
    if id == nil { handler() }
    // A handler that is being called holds on to all it needs, so it may outlive the body.
    defer { if let id { state.withLock { $0.handlers[id] = nil } } }
    return try body()
  }

  /// Has a closure called when the call is cancelled, or at once if it has been.
  func onCancelOnce(_ handler: @escaping @Sendable () -> Void) {
    if register(handler) == nil { handler() }
  }

  /// Keeps a handler; `nil` when the call was cancelled already.
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
      if !state.isCancelled { Self.cancelled.add(1, ordering: .releasing) }
      state.isCancelled = true
      defer { state.handlers = [:] }
      return state.handlers
    }
    for handler in handlers.values { handler() }
  }
}
