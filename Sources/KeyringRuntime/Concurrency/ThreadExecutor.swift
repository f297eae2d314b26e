// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeyringPlatform
internal import Synchronization

/// An executor that runs asynchronous code on one thread, which waits for events between the jobs.
///
/// Each synchronous operation has an executor of its own. Its thread runs the steps of that operation alone.
/// Asynchronous operations share one executor, which has a thread of its own.
package final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
  private struct State {
    var jobs: [UnownedJob] = []
    var timers = Timers()
    /// Whether the thread waits for events and must be woken for a job.
    var isWaiting = false
  }

  /// The events for which the thread waits, or `nil` before its first wait.
  ///
  /// The thread itself changes them, under the lock.
  package private(set) var events: (any EventSource)?
  /// Whether the executor runs a single synchronous operation.
  package private(set) var isSynchronous = false
  /// The time for which the thread has waited, except for the user, in microseconds.
  private var waited: Int64 = 0
  private let state = Mutex(State())
  private var start: (@Sendable (ThreadExecutor) -> Shortage?)?
  private let isStarted = Mutex(false)

  /// Creates an executor that has no thread yet.
  @usableFromInline
  init(_ events: (any EventSource)? = nil) { self.events = events }

  /// Creates an executor with a thread of its own, which runs jobs forever once ``missingThread`` has started it.
  ///
  /// - Parameters:
  ///   - events: The events for which the thread waits, besides being woken.
  ///   - name: The name of the thread, of at most 15 bytes.
  ///   - start: A closure that runs another one on a new thread, or returns what is missing for the thread.
  package convenience init(
    _ events: (any EventSource)? = nil, threadNamed name: String,
    starting start: @escaping @Sendable (String, @escaping @Sendable () -> Void) -> Shortage? =
      ThreadExecutor.startThread(named:_:)
  ) {
    self.init(events)
    self.start = { executor in
      start(name) {
        executor.events?.enter()
        pthread_setspecific(Self.key, Unmanaged.passUnretained(executor).toOpaque())
        while true { executor.turn() }
      }
    }
  }

  /// Starts the thread of the executor at the first use, and returns what is missing for it, if anything.
  ///
  /// Jobs whose thread is missing wait for the success of a later attempt.
  package var missingThread: Shortage? {
    isStarted.withLock { isStarted in
      if isStarted { return nil }
      let shortage = start?(self)
      isStarted = shortage == nil
      return shortage
    }
  }

  /// The time on the monotonic clock, in microseconds.
  package static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1000) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { state in
      state.jobs.append(job)
      // Call this under the lock. Once the thread has the job, it may end the operation, and the executor
      // with it.
      if state.isWaiting { wake() }
    }
  }

  /// Ends a wait at a moment, at the latest.
  ///
  /// An executor whose thread can't be started ends the wait at once.
  func end(_ waiter: Waiter, at moment: Int64) {
    if start != nil, let missingThread {
      waiter.end(.failed(missingThread))
      return
    }
    state.withLock { state in
      let next = state.timers.next
      state.timers.add(waiter, at: moment)
      if state.isWaiting, next.map({ moment < $0 }) ?? true { wake() }
    }
  }

  /// Ends the wait of the thread.
  ///
  /// On the thread itself this runs within an event, which ends the wait anyway.
  private func wake() { if Self.current !== self { events?.wake() } }

  /// Runs the jobs that are due, or waits for an event.
  private func turn() {
    let (jobs, next) = state.withLock { state in
      state.isWaiting = state.jobs.isEmpty
      if state.isWaiting, events == nil { events = Wakening() }
      return (exchange(&state.jobs, with: []), state.timers.next)
    }
    for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    guard jobs.isEmpty else { return }
    let start = Self.now
    events?.wait(until: next)
    let end = Self.now
    waited += end - start
    let late = state.withLock { state in
      state.isWaiting = false
      return state.timers.takeLate(end)
    }
    for waiter in late { waiter.end(.timedOut) }
  }

  // MARK: - Synchronous operations

  /// The executor of the current thread.
  package static var current: ThreadExecutor? {
    pthread_getspecific(key).map { Unmanaged<ThreadExecutor>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The executor of the current task, or `nil` on the thread of another executor or of none.
  ///
  /// An actor that serves a task runs on the thread of that task's executor, together with the calls of other tasks
  /// that the actor has in its queue. These calls must not block the thread or wait for its events.
  package static var ofCurrentTask: ThreadExecutor? {
    guard let current else { return nil }
    let isOwn = withUnsafeCurrentTask {
      $0?.unownedTaskExecutor == current.asUnownedTaskExecutor()
    }
    return isOwn ? current : nil
  }

  /// The key under which each thread keeps its executor.
  private static let key = {
    var key = pthread_key_t()
    // Without the key, no synchronous call would find its executor.
    precondition(pthread_key_create(&key, nil) == 0, "too many keys for values of threads")
    return key
  }()

  /// The executor of the synchronous operation that this one is a part of, if any.
  private(set) var outer: ThreadExecutor?

  /// Runs asynchronous code to its end on this thread.
  ///
  /// A cancellation of the call on this thread cancels the task of the code.
  ///
  /// - Parameter body: The code.
  /// - Returns: The result of the code.
  /// - Throws: The error of the code.
  @inlinable
  package static func runToEnd<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    ThreadExecutor().drive { outcome = await Swift.Result(body) }
    guard let outcome else { preconditionFailure("a call ends with an outcome") }
    return try outcome.get()
  }

  @usableFromInline
  func drive(_ body: () async -> Void) {
    isSynchronous = true
    outer = Self.current
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    withoutActuallyEscaping(body) { body in
      let call = BorrowedCall(body)
      let task = Task(executorPreference: self) { await call.run() }
      if let signal = Cancellation.current {
        signal.onCancel({ task.cancel() }, while: { while !call.isOver { turn() } })
      } else {
        while !call.isOver { turn() }
      }
    }
    pthread_setspecific(Self.key, outer.map { Unmanaged.passUnretained($0).toOpaque() })
    events?.leave()
    MainLoop.count(waitOf: waited)
  }

  /// Runs code that waits for the user, for whom an operation may take any time.
  ///
  /// - Parameter body: The code.
  /// - Returns: The result of the code.
  /// - Throws: The error of the code.
  package nonisolated(nonsending) static func waitingForUser<Result, Failure: Error>(
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let executor = ofCurrentTask
    let waited = executor?.waited
    defer { if let executor, let waited { executor.waited = waited } }
    return try await body()
  }

  /// Makes the thread of a synchronous operation wait for other events until the operation ends.
  ///
  /// Call this method on that thread, at most once.
  package func wait(for events: any EventSource) {
    events.enter()
    state.withLock { _ in self.events = events }
  }
}

/// A closure that another task runs while the code that has passed it waits.
package final class BorrowedCall: @unchecked Sendable {
  private var body: (() async -> Void)?
  private(set) var isOver = false

  package init(_ body: @escaping () async -> Void) { self.body = body }

  package nonisolated(nonsending) func run() async {
    await body?()
    // The body must not outlive the call.
    body = nil
    isOver = true
  }
}

extension ThreadExecutor {
  /// The executor that ends the waits of tasks of the default executor.
  package static let ofOthers = ThreadExecutor(threadNamed: "swift-keyring t")

  /// Runs code on the executor's thread, or within a synchronous operation on its own.
  ///
  /// For an executor whose thread can't be started, this thread runs the code to its end.
  ///
  /// - Parameter body: The code.
  /// - Returns: The result of the code.
  /// - Throws: The error of the code.
  package func run<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let current = Self.ofCurrentTask
    if current === self || current?.isSynchronous == true { return try await body() }
    guard missingThread == nil else { return try Self.runToEnd(body) }
    return try await withTaskExecutorPreference(self, operation: body)
  }
}

extension Result {
  /// Creates a result from the value that asynchronous code returns or the error that it throws.
  @inlinable
  package nonisolated(nonsending) init(_ body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}

/// Runs code to its end, regardless of a cancellation of the task.
///
/// - Parameter body: The code.
/// - Returns: The result of the code.
package func withoutCancellation<Result: Sendable>(
  _ body: @escaping @Sendable () async -> Result
) async -> Result {
  await Cancellation.$current.withValue(nil) {
    Task(executorPreference: ThreadExecutor.ofCurrentTask, operation: body)
  }.value
}

extension Duration {
  /// The duration in microseconds, clamped to 0 through 34 years.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = Swift.max(.zero, Swift.min(self, .seconds(1 << 30))).components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}

extension Int64 {
  /// Returns the moment after a duration from now, in microseconds of the monotonic clock.
  package static func now(plus duration: Duration) -> Int64 {
    ThreadExecutor.now + duration.microseconds
  }
}
