internal import Dispatch
internal import Synchronization

#if os(Linux)
internal import CLinuxFiles
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Runs asynchronous code on one thread, which waits for events while there is nothing to run.
///
/// A synchronous operation has an executor of its own while it lasts. Its thread runs the steps of that
/// operation, and nothing else. Asynchronous operations share one executor, on a thread of the library's own.
package final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
  private struct State {
    var jobs: [UnownedJob] = []
    var timers = Timers()
    /// Whether the thread waits for events, and has to be woken for a job.
    var isWaiting = false
  }

  package let events: any EventSource
  /// Whether it runs a single synchronous operation.
  package private(set) var isSynchronous = false
  private let state = Mutex(State())

  /// Creates an executor that no thread runs yet.
  ///
  /// - Parameter events: What its thread waits for.
  package init(_ events: any EventSource) { self.events = events }

  /// The time on the monotonic clock, in microseconds.
  package static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1000) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { state in
      state.jobs.append(job)
      // Under the lock, as the thread may end the operation, and the executor with it, once it has the job.
      if state.isWaiting { events.wake() }
    }
  }

  /// Ends a wait at a moment, if nothing else ends it before.
  func end(_ waiter: Waiter, at moment: Int64) {
    state.withLock { state in
      let next = state.timers.next
      state.timers.add(waiter, at: moment)
      if state.isWaiting, next.map({ moment < $0 }) ?? true { events.wake() }
    }
  }

  /// Runs the jobs that are due, or waits for an event.
  private func turn() {
    let (jobs, next) = state.withLock { state in
      state.isWaiting = state.jobs.isEmpty
      defer { state.jobs = [] }
      return (state.jobs, state.timers.next)
    }
    for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    guard jobs.isEmpty else { return }
    events.wait(until: next)
    let late = state.withLock { state in
      state.isWaiting = false
      return state.timers.takeLate(Self.now)
    }
    for waiter in late { waiter.end(.timedOut) }
  }

  // MARK: - Synchronous operations

  /// The executor that this thread runs.
  package static var current: ThreadExecutor? {
    pthread_getspecific(key).map { Unmanaged<ThreadExecutor>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Where each thread remembers its executor.
  private static let key = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "too many keys for values of threads")
    return key
  }()

  /// Runs asynchronous code to its end on this thread.
  ///
  /// The cancellation of the call that this thread is in reaches the code as that of its task.
  ///
  /// - Parameter body: The code.
  /// - Returns: What the code has returned, and whether another call may use the executor.
  package func run<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) -> (outcome: Swift.Result<Result, Failure>, isReusable: Bool) {
    isSynchronous = true
    let outer = pthread_getspecific(Self.key)
    events.enter()
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    let outcome = withoutActuallyEscaping(body) { body in
      let call = SynchronousCall(body)
      let task = Task(executorPreference: self) { await call.run() }
      func drive() { while call.outcome == nil { turn() } }
      if let signal = CancellationSignal.current {
        signal.onCancel({ task.cancel() }, while: drive)
      } else {
        drive()
      }
      return call.outcome
    }
    pthread_setspecific(Self.key, outer)
    let isReusable = events.leave()
    state.withLock { $0.timers = Timers() }
    guard let outcome else { preconditionFailure("a call ends with an outcome") }
    return (outcome, isReusable)
  }

  // MARK: - Threads

  /// Runs whatever comes, for ever, on a thread of its own.
  package func start(named name: String) {
    let isStarted = Self.startThread(named: name) {
      self.events.enter()
      pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
      while true { self.turn() }
    }
    precondition(isStarted, "no thread can be started")
  }

  /// Starts a thread of the library's own, which is neither Dispatch's nor the cooperative pool's.
  ///
  /// - Parameters:
  ///   - name: The name of the thread, of at most 15 bytes.
  ///   - body: What the thread runs.
  /// - Returns: Whether the system had one.
  package static func startThread(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    let data = Unmanaged.passRetained(ThreadBody(name: name, run: body)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let status = pthread_create(
      &thread, nil,
      { data in
        ThreadBody.run(data)
        return nil
      }, data)
    guard status == 0 else {
      Unmanaged<ThreadBody>.fromOpaque(data).release()
      return false
    }
    #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
    return true
  }
}

/// An operation that its own thread runs to the end.
private final class SynchronousCall<Result, Failure: Error>: @unchecked Sendable {
  private var body: (() async throws(Failure) -> Result)?
  private(set) var outcome: Swift.Result<Result, Failure>?

  init(_ body: @escaping () async throws(Failure) -> Result) { self.body = body }

  func run() async {
    guard let body else { return }
    self.body = nil
    do throws(Failure) {
      outcome = .success(try await body())
    } catch {
      outcome = .failure(error)
    }
  }
}

private final class ThreadBody: Sendable {
  private let name: String
  private let run: @Sendable () -> Void

  init(name: String, run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }

  static func run(_ data: UnsafeMutableRawPointer?) {
    guard let data else { return }
    let body = Unmanaged<ThreadBody>.fromOpaque(data).takeRetainedValue()
    #if canImport(Darwin)
    pthread_setname_np(body.name)
    #elseif os(Linux)
    swift_keyring_name_this_thread(body.name)
    #endif
    body.run()
  }
}

extension ThreadExecutor {
  /// Runs asynchronous code of any kind to its end on this thread.
  package static func runToEnd<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try ThreadExecutor(Wakening()).run(body).outcome.get()
  }

  /// The executor that ends the waits of tasks which run on none.
  static let ofOthers: ThreadExecutor = {
    let executor = ThreadExecutor(Wakening())
    executor.start(named: "swift-keyring t")
    return executor
  }()

  /// The executor of the tasks that have a turn.
  ///
  /// The threads of the cooperative pool may all be blocked by synchronous operations that wait for theirs.
  static let ofTurns: ThreadExecutor = {
    let executor = ThreadExecutor(Wakening())
    executor.start(named: "swift-keyring l")
    return executor
  }()

  /// Runs something on the thread of the executor; or on this thread, if that runs a synchronous operation.
  func run<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if Self.current?.isSynchronous == true { return try await body() }
    return try await withTaskExecutorPreference(self, operation: body)
  }
}

/// Runs something to its end although the task may be cancelled.
func withoutCancellation<Result: Sendable>(
  _ body: @escaping @Sendable () async -> Result
) async -> Result {
  await CancellationSignal.$current.withValue(nil) {
    Task(executorPreference: ThreadExecutor.current, operation: body)
  }.value
}

extension Duration {
  /// The duration in microseconds, some decades at most.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = Swift.min(self, .seconds(1 << 30)).components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}

extension Int64 {
  /// The moment after some time, in microseconds of the monotonic clock.
  package static func now(plus duration: Duration) -> Int64 {
    ThreadExecutor.now + duration.microseconds
  }
}
