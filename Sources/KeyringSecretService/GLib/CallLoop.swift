// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime
internal import Synchronization

/// The main context of a thread, which delivers answers and signals.
///
/// libsecret's own synchronous functions block forever if the provider dies behind a prompt or ignores a
/// dismissal. The loop starts the asynchronous functions instead. A call ends with its callback or at the
/// deadline, whichever comes first. An abandoned call leaks a few bytes and doesn't block anything.
final class CallLoop: EventSource, @unchecked Sendable {
  private let context: OpaquePointer
  private let timer: UnsafeMutablePointer<GSource>?
  /// `true` for a loop whose calls have ended, which another operation may use.
  private var isReusable = true
  /// The cancelled calls of a synchronous operation.
  private var abandoned: [Flight] = []

  /// The longest time that a synchronous operation waits for the end of cancelled calls, in microseconds.
  private static let timeForAbandonedCalls: Int64 = 100_000

  /// Creates a loop.
  ///
  /// - Throws: The error for a missing file descriptor, without which GLib would end the process. The first
  ///   loop also needs the threads that GLib keeps.
  private init() throws(DBusError) {
    let isFirst = !Self.hasWorkers.load(ordering: .relaxed)
    if let shortage = Shortage.before(descriptors: isFirst ? 4 : 2, threads: isFirst ? 3 : 0) {
      throw DBusError(shortage)
    }
    timer = g_timeout_source_new(guint.max)
    context = g_main_context_new()
    g_source_set_callback(timer, { _ in 1 }, nil, nil)
    g_source_attach(timer, context)
    // With the first loop, GLib also creates the one of the main thread.
    asDefault {}
  }

  deinit {
    g_source_destroy(timer)
    g_source_unref(timer)
    g_main_context_unref(context)
  }

  func enter() { g_main_context_acquire(context) }

  /// Runs code of GLib that takes the thread's default context for its answers and signals.
  ///
  /// At all other times, the default is the one that the program has chosen. Between two waits of an operation,
  /// the thread may run the program's code, such as a question for a passphrase.
  func asDefault<Result>(_ body: () -> Result) -> Result {
    g_main_context_push_thread_default(context)
    defer { g_main_context_pop_thread_default(context) }
    return body()
  }

  /// Waits until there is an event, a given time has come, or the thread is woken.
  ///
  /// Setting the timer wakes the thread once more. A timer that is due earlier therefore stays as it is,
  /// and only ends a wait too early. After that, GLib sets it to a time in 49 days.
  func wait(until moment: Int64?) {
    if let moment, moment < g_source_get_ready_time(timer) {
      g_source_set_ready_time(timer, gint64(moment))
    }
    _ = asDefault { g_main_context_iteration(context, 1) }
  }

  func wake() { g_main_context_wakeup(context) }

  func leave() {
    // A cancelled call ends at once, but perhaps on another thread. If nobody takes its answer, it keeps its
    // connection open.
    let limit = ThreadExecutor.now + Self.timeForAbandonedCalls
    while abandoned.contains(where: \.isInProgress), ThreadExecutor.now < limit {
      wait(until: limit)
    }
    abandoned = []
    // This runs the callbacks of cancelled calls and releases signal handlers.
    asDefault { while g_main_context_iteration(context, 0) != 0 {} }
    g_main_context_release(context)
    if isReusable { Self.idle.withLock { if $0.count < Self.mostIdle { $0.append(self) } } }
  }

  /// The loop that this thread runs.
  ///
  /// An answer arrives in the main context of the thread that has asked. Any other thread would wait
  /// forever.
  static var current: CallLoop {
    guard let loop = ThreadExecutor.current?.events as? CallLoop else {
      preconditionFailure("outside of a call")
    }
    return loop
  }

  /// The main context, for objects that outlive the call.
  ///
  /// Once you read this property, the loop isn't kept for another synchronous operation.
  var shared: GLibReference {
    isReusable = false
    return .context(context)
  }

  // MARK: - Running operations

  /// Loops that no operation uses at the moment.
  ///
  /// They're kept because creating a loop takes longer than many of the operations that run on it.
  private static let idle = Mutex<[CallLoop]>([])
  private static let mostIdle = 8

  /// Returns a loop that no operation uses.
  private static func unused() throws(DBusError) -> CallLoop {
    if let loop = idle.withLock({ $0.popLast() }) { return loop }
    return try CallLoop()
  }

  private static let asynchronous = Mutex<ThreadExecutor?>(nil)

  /// Returns the executor of all asynchronous operations, which the first one creates.
  private static func ofAsynchronousCalls() throws(DBusError) -> ThreadExecutor {
    try asynchronous.withLock { (executor) throws(DBusError) in
      if let executor { return executor }
      let new = ThreadExecutor(try CallLoop(), threadNamed: "swift-keyring")
      executor = new
      return new
    }
  }

  /// Runs an operation on the thread of all asynchronous operations.
  ///
  /// If this thread is running a synchronous operation, the new operation runs on this thread, which then waits in a
  /// loop until the synchronous operation ends.
  ///
  /// - Parameters:
  ///   - failure: A closure that returns the error if there can't be a loop for the operation.
  ///   - body: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation, or the one for the loop.
  @concurrent static func run<Result, Failure: Error>(
    orThrow failure: (DBusError) -> Failure, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    do throws(DBusError) {
      try await run {
        do throws(Failure) {
          outcome = .success(try await body())
        } catch {
          outcome = .failure(error)
        }
      }
    } catch {
      throw failure(error)
    }
    guard let outcome else { preconditionFailure("an operation ends with an outcome") }
    return try outcome.get()
  }

  /// Runs an operation that keeps its outcome itself.
  @concurrent private static func run(_ body: () async -> Void) async throws(DBusError) {
    // Without the libraries there is no loop, and nothing to wait for: the operation fails.
    guard (try? LibSecret.load()) != nil else { return await body() }
    func prepare() throws(DBusError) {
      guard let executor = ThreadExecutor.current, !(executor.events is CallLoop) else { return }
      executor.wait(for: try unused())
    }
    if ThreadExecutor.ofCurrentTask?.isSynchronous == true {
      try prepare()
      return await body()
    }
    try await ofAsynchronousCalls().run { () async throws(DBusError) in
      try prepare()
      await body()
    }
  }

  /// Runs an operation to its end on this thread.
  static func runToEnd<Result, Failure: Error>(
    orThrow failure: (DBusError) -> Failure, _ body: () async throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try ThreadExecutor.runToEnd { () async throws(Failure) in
      try await run(orThrow: failure, body)
    }
  }

  /// Starts a task that makes calls, on the thread of all asynchronous operations if there is one.
  static func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    guard LibSecret.isLoaded, let executor = try? ofAsynchronousCalls(),
      executor.missingThread == nil
    else { return Task.detached { await body() } }
    return Task.detached(executorPreference: executor, operation: body)
  }

  // MARK: - Resources

  /// `true` after GLib started the threads and opened the descriptors that it keeps.
  static let hasWorkers = Atomic(false)
  private static let threadsOfGLib = 8

  /// Throws an error if GLib may lack something for a connection, without which it would end the process.
  ///
  /// The first connection takes loops for two threads of GLib, three threads that stay, and one or two that connect.
  /// Each takes a socket, an event to cancel the connecting, and a thread. Threads that have just ended may still
  /// count for a moment, so more of them are asked for.
  static func checkResources() throws(DBusError) {
    let isFirst = !hasWorkers.load(ordering: .relaxed)
    let threads = isFirst ? threadsOfGLib : 2
    if let shortage = Shortage.before(descriptors: isFirst ? 6 : 4, threads: threads) {
      throw DBusError(shortage)
    }
  }

  // MARK: - Waiting for answers

  /// A closure that starts an asynchronous call with a cancellable, a callback and the callback's data.
  typealias Start = (UnsafeMutablePointer<GCancellable>?, GAsyncReadyCallback, gpointer) -> Void

  /// Starts calls concurrently, and waits until all of them have ended.
  ///
  /// - Parameters:
  ///   - starts: The closures that start the calls.
  ///   - deadline: The deadline of the calls.
  ///   - onResult: A closure that receives the index and the result of each call when the call ends. Signals
  ///     that arrived before have been handled then, and signals that arrive later haven't.
  ///   - onGivenUp: A closure that receives the number of calls that are given up. With this closure, calls
  ///     aren't cancelled if the loop continues to run. It then also receives the cancellable of the calls, and gets -1
  ///     for each that ends after all.
  /// - Returns: The results in the order of the calls, for the functions that finish such a call.
  /// - Throws: Only the error of a passed deadline or a cancelled task. The calls are cancelled
  ///   then, too, unless `onGivenUp` prevents it.
  static func results(
    of starts: [Start], until deadline: Deadline,
    onResult: @escaping (Int, GLibReference) -> Void = { _, _ in },
    onGivenUp: ((Int, _ cancellable: GLibReference?) -> Void)? = nil
  ) async throws(DBusError) -> [GLibReference] {
    if starts.isEmpty { return [] }
    let cancellable = g_cancellable_new()
    defer { g_object_unref(cancellable) }
    let loop = current
    let flight = Flight(room: starts.count)
    let end = await Waiter.wait(until: deadline.end) { waiter in
      flight.onResult = { [unowned flight] index, result in
        onResult(index, result)
        if !flight.isInProgress { waiter.end() }
      }
      loop.asDefault {
        for (index, start) in starts.enumerated() {
          start(cancellable, Flight.callback, flight.callbackData(index))
        }
      }
    }
    guard let failure = end.failure else { return flight.results.compactMap(\.self) }
    let isSynchronous = ThreadExecutor.current?.isSynchronous == true
    let left = flight.left
    flight.giveUp()
    if !isSynchronous, let onGivenUp, let cancellable {
      g_object_ref(cancellable)
      let reference = GLibReference.object(adopting: OpaquePointer(cancellable))
      onGivenUp(left, reference)
      flight.onResult = { [unowned flight] _, _ in
        onGivenUp(-1, flight.isInProgress ? nil : reference)
      }
    } else {
      onGivenUp?(left, nil)
      loop.isReusable = false
      g_cancellable_cancel(cancellable)
    }
    if isSynchronous {
      loop.abandoned.removeAll { !$0.isInProgress }
      loop.abandoned.append(flight)
    }
    throw failure
  }

  /// Starts a call, and waits until it has ended.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the call.
  ///   - start: The closure that starts the call.
  /// - Returns: The result, for the function that finishes such a call.
  /// - Throws: Only the error of a passed deadline or a cancelled task. The call is cancelled
  ///   then, too.
  static func result(
    until deadline: Deadline, _ start: @escaping Start
  ) async throws(DBusError) -> GLibReference {
    try await results(of: [start], until: deadline)[0]
  }
}

extension Waiter.Outcome {
  /// The error of a wait that timed out or was cancelled.
  var failure: DBusError? {
    switch self {
    case .ended: nil
    case .timedOut: .timedOut
    case .canceled: .canceled
    case .failed(let shortage): DBusError(shortage)
    }
  }
}

/// Calls that were started together.
private final class Flight {
  private(set) var results: [GLibReference?]
  /// The number of calls that have started and haven't ended.
  private(set) var left = 0
  /// The closure that receives the index and the result of each call.
  var onResult: (Int, GLibReference) -> Void = { _, _ in }

  init(room count: Int) { results = Array(repeating: nil, count: count) }

  var isInProgress: Bool { left > 0 }

  private final class Call {
    let flight: Flight
    let index: Int

    init(_ flight: Flight, _ index: Int) { (self.flight, self.index) = (flight, index) }
  }

  /// Returns the data for the callback of a call that starts.
  func callbackData(_ index: Int) -> gpointer {
    left += 1
    return Unmanaged.passRetained(Call(self, index)).toOpaque()
  }

  static let callback: GAsyncReadyCallback = { _, result, data in
    guard let result, let data else { return }
    let call = Unmanaged<Call>.fromOpaque(data).takeRetainedValue()
    g_object_ref(gpointer(result))
    call.flight.end(call.index, .object(adopting: result))
  }

  /// Drops all results, because nobody waits for the calls any more.
  func giveUp() {
    results = []
    onResult = { _, _ in }
  }

  private func end(_ index: Int, _ result: GLibReference) {
    if !results.isEmpty { results[index] = result }
    left -= 1
    onResult(index, result)
  }
}
#endif
