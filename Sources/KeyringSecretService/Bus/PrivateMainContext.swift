#if SecretService && os(Linux)
internal import CLibSecret
internal import Synchronization

/// A main context that belongs to one call, so that waiting for an answer runs nobody else's code.
///
/// libsecret's own synchronous functions block for ever when the provider dies behind a prompt, or
/// ignores a dismissal. Here the asynchronous function is started, and the context is iterated
/// until its callback or the deadline, whichever comes first; a call that is abandoned leaks a few
/// bytes and blocks nobody.
final class PrivateMainContext: @unchecked Sendable {
  private let context: OpaquePointer = g_main_context_new()
  private var cancellable = g_cancellable_new()
  /// Whether every call that was started in it has ended, so that another may use it.
  private var isIdle = true

  private init() {}

  deinit {
    g_main_context_unref(context)
    g_object_unref(cancellable)
  }

  /// Contexts that nobody uses: to make one takes longer than much of what is done in it.
  private static let idle = Mutex<[PrivateMainContext]>([])
  private static let mostIdle = 8

  /// Runs something with a context of its own that is this thread's default meanwhile.
  static func run<Result, Failure: Error>(
    _ body: (PrivateMainContext) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let own = idle.withLock { $0.popLast() } ?? PrivateMainContext()
    g_main_context_push_thread_default(own.context)
    defer {
      own.drain()
      g_main_context_pop_thread_default(own.context)
      if own.isIdle { idle.withLock { if $0.count < mostIdle { $0.append(own) } } }
    }
    return try body(own)
  }

  /// What starts an asynchronous call: with the cancellable, the callback and its data.
  typealias Start = (UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, gpointer) -> Void

  /// Starts calls side by side and waits until every one of them has ended.
  ///
  /// - Parameters:
  ///   - starts: What starts the calls.
  ///   - deadline: When to give up.
  ///   - onResult: Called with the index of each as it ends: signals that came before are handled, and
  ///     those that come after are not.
  /// - Returns: Their results, in the same order, for the functions that finish such a call.
  /// - Throws: Only when the deadline passed or the task was cancelled; so are the calls then.
  func results(
    of starts: [Start], until deadline: Deadline, onResult: @escaping (Int) -> Void = { _ in }
  ) throws(BusFailure) -> [GLibReference] {
    let completions = starts.enumerated().map { index, start in
      let completion = Completion { onResult(index) }
      let data = Unmanaged.passRetained(completion).toOpaque()
      start(cancellable, Completion.callback, data)
      return completion
    }
    do {
      try iterate(until: deadline) { completions.contains { $0.result == nil } }
    } catch {
      isIdle = false
      for completion in completions { completion.abandon() }
      // What is started next in this context is another call.
      g_cancellable_cancel(cancellable)
      g_object_unref(cancellable)
      cancellable = g_cancellable_new()
      throw error
    }
    return completions.compactMap(\.result)
  }

  /// The context, for what outlives it, so that nobody else is to use it.
  var shared: GLibReference {
    isIdle = false
    return .context(context)
  }

  /// Iterates the context for as long as there is something to wait for.
  func iterate(until deadline: Deadline, while isWaiting: () -> Bool) throws(BusFailure) {
    // The handler may be at work while this call ends, and needs a context that is still there.
    let wake: @Sendable () -> Void = { [self] in g_main_context_wakeup(context) }
    // Not for ever, as what ends the wait may be something that no source of the context tells.
    let timer = g_timeout_source_new(min(deadline.milliseconds, Self.longestWait))
    g_source_set_callback(timer, { _ in 1 }, nil, nil)
    g_source_attach(timer, context)
    defer {
      g_source_destroy(timer)
      g_source_unref(timer)
    }
    try deadline.waking(by: wake) { () throws(BusFailure) in
      var isLast = deadline.milliseconds <= Self.longestWait
      while isWaiting() {
        if let failure = deadline.failure { throw failure }
        if !isLast, deadline.milliseconds <= Self.longestWait {
          isLast = true
          g_source_set_ready_time(timer, gint64(deadline.end))
        }
        g_main_context_iteration(context, 1)
      }
    }
  }

  /// In milliseconds.
  private static let longestWait: guint = 1000

  /// Iterates the context once: until something has happened in it, it was woken, or time is up.
  ///
  /// - Parameter milliseconds: The time; without a limit if it is `nil`.
  func iterate(atMost milliseconds: Int?) {
    guard let milliseconds else {
      g_main_context_iteration(context, 1)
      return
    }
    let timer = g_timeout_source_new(guint(clamping: milliseconds))
    // The timer has nothing to do but end the iteration that is blocked when it fires.
    g_source_set_callback(timer, { _ in 0 }, nil, nil)
    g_source_attach(timer, context)
    g_main_context_iteration(context, 1)
    g_source_destroy(timer)
    g_source_unref(timer)
  }

  /// Dispatches what is ready: callbacks of cancelled calls, the release of signal handlers.
  private func drain() {
    while g_main_context_iteration(context, 0) != 0 {}
  }
}

private final class Completion {
  private(set) var result: GLibReference?
  private var onResult: () -> Void

  init(_ onResult: @escaping () -> Void) { self.onResult = onResult }

  /// Whoever has waited does so no more.
  func abandon() { onResult = {} }

  static let callback: GAsyncReadyCallback = { _, result, data in
    guard let result, let data else { return }
    let completion = Unmanaged<Completion>.fromOpaque(data).takeRetainedValue()
    g_object_ref(gpointer(result))
    completion.result = .object(adopting: result)
    completion.onResult()
  }
}
#endif
