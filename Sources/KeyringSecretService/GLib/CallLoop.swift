#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage
internal import Synchronization

/// The main context of a thread, from which it gets answers and signals.
///
/// libsecret's own synchronous functions block for ever if the provider dies behind a prompt, or ignores a
/// dismissal. Here the asynchronous function is started, and ends by its callback or the deadline,
/// whichever comes first. A call that is abandoned leaks a few bytes and blocks nobody.
final class CallLoop: EventSource, @unchecked Sendable {
  private let context: OpaquePointer = g_main_context_new()
  private let timer = g_timeout_source_new(guint.max)
  /// Whether every call that was started in it has ended, so that another may use it.
  private var isReusable = true

  private init() {
    g_source_set_callback(timer, { _ in 1 }, nil, nil)
    g_source_attach(timer, context)
  }

  deinit {
    g_source_destroy(timer)
    g_source_unref(timer)
    g_main_context_unref(context)
  }

  func enter() {
    g_main_context_acquire(context)
    g_main_context_push_thread_default(context)
  }

  func wait(until moment: Int64?) {
    g_source_set_ready_time(timer, moment.map { gint64($0) } ?? -1)
    g_main_context_iteration(context, 1)
  }

  func wake() { g_main_context_wakeup(context) }

  func leave() -> Bool {
    // The callbacks of cancelled calls, the release of signal handlers.
    while g_main_context_iteration(context, 0) != 0 {}
    g_main_context_pop_thread_default(context)
    g_main_context_release(context)
    return isReusable
  }

  /// The loop that this thread runs.
  ///
  /// Anything else would wait for ever: an answer comes to the context of the thread that has asked.
  static var current: CallLoop {
    guard let loop = ThreadExecutor.current?.events as? CallLoop else {
      preconditionFailure("outside of a call")
    }
    return loop
  }

  /// The context, for what outlives the call, so that no other call is to use it.
  var shared: GLibReference {
    isReusable = false
    return .context(context)
  }

  // MARK: - Running operations

  /// Executors that nobody uses: to make one takes longer than much of what is done in it.
  private static let idle = Mutex<[ThreadExecutor]>([])
  private static let mostIdle = 8

  /// Runs an operation to its end on this thread.
  static func runToEnd<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let executor = idle.withLock { $0.popLast() } ?? ThreadExecutor(CallLoop())
    let (outcome, isReusable) = executor.run(body)
    if isReusable { idle.withLock { if $0.count < mostIdle { $0.append(executor) } } }
    return try outcome.get()
  }

  /// The executor of all asynchronous operations; its thread starts with the first of them.
  private static let ofAsynchronousCalls: ThreadExecutor = {
    let executor = ThreadExecutor(CallLoop())
    executor.start(named: "swift-keyring")
    return executor
  }()

  /// Runs an operation on the thread of all asynchronous ones; or on this thread, if a synchronous operation
  /// has come to it.
  static func run<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if ThreadExecutor.current?.isSynchronous == true { return try runToEnd(body) }
    return try await withTaskExecutorPreference(ofAsynchronousCalls, operation: body)
  }

  /// Starts something on the thread of all asynchronous operations.
  static func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task.detached(executorPreference: ofAsynchronousCalls, operation: body)
  }

  // MARK: - Waiting for answers

  /// What starts an asynchronous call: with the cancellable, the callback and its data.
  typealias Start = (UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, gpointer) -> Void

  /// Starts calls side by side and waits until every one of them has ended.
  ///
  /// - Parameters:
  ///   - starts: What starts the calls.
  ///   - deadline: When to give up.
  ///   - onResult: Called with the index of each as it ends: signals that came before are handled, and
  ///     those that come after are not.
  ///   - onLateResult: Called for each that ends after it was given up. Calls that have this are not cancelled
  ///     where the loop goes on.
  /// - Returns: Their results, in the same order, for the functions that finish such a call.
  /// - Throws: Only when the deadline passed or the task was cancelled; so are the calls then.
  static func results(
    of starts: [Start], until deadline: Deadline, onResult: @escaping (Int) -> Void = { _ in },
    onLateResult: (() -> Void)? = nil
  ) async throws(BusFailure) -> [GLibReference] {
    if starts.isEmpty { return [] }
    let cancellable = g_cancellable_new()
    defer { g_object_unref(cancellable) }
    var completions: [Completion] = []
    do throws(BusFailure) {
      try await Waiter.wait(until: deadline) { waiter in
        var left = starts.count
        completions = starts.enumerated().map { index, start in
          let completion = Completion {
            onResult(index)
            left -= 1
            if left == 0 { waiter.end() }
          }
          start(cancellable, Completion.callback, Unmanaged.passRetained(completion).toOpaque())
          return completion
        }
      }
    } catch {
      let goesOn = ThreadExecutor.current?.isSynchronous == false && onLateResult != nil
      for completion in completions { completion.abandon(goesOn ? onLateResult : nil) }
      if !goesOn {
        current.isReusable = false
        g_cancellable_cancel(cancellable)
      }
      throw error
    }
    return completions.compactMap(\.result)
  }
}

extension SharedOutcome {
  /// Waits for the outcome.
  ///
  /// - Parameter deadline: When to give up.
  /// - Throws: That the deadline passed or the task was cancelled.
  func wait(until deadline: Deadline) async throws(BusFailure) {
    try await wait(until: deadline.end).check()
  }
}

extension Waiter.Outcome {
  /// Throws unless the wait has ended by what was waited for.
  func check() throws(BusFailure) {
    switch self {
    case .ended: break
    case .timedOut: throw .timedOut
    case .canceled: throw .canceled
    }
  }
}

extension Waiter {
  /// Waits for something.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - start: Called at once with what ends the wait.
  /// - Throws: That the deadline passed or the task was cancelled.
  static func wait(
    until deadline: Deadline, _ start: (Waiter) -> Void
  ) async throws(BusFailure) {
    try await wait(until: deadline.end, start).check()
  }
}

private final class Completion {
  private(set) var result: GLibReference?
  private var onResult: () -> Void

  init(_ onResult: @escaping () -> Void) { self.onResult = onResult }

  /// Whoever has waited does so no more.
  func abandon(_ onLateResult: (() -> Void)?) {
    if result == nil { onResult = onLateResult ?? {} }
  }

  static let callback: GAsyncReadyCallback = { _, result, data in
    guard let result, let data else { return }
    let completion = Unmanaged<Completion>.fromOpaque(data).takeRetainedValue()
    g_object_ref(gpointer(result))
    completion.result = .object(adopting: result)
    completion.onResult()
  }
}
#endif
