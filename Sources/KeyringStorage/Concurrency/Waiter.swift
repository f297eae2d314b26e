// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A single wait of an operation.
///
/// It ends once: when the event happens, at a moment, or when the task is cancelled.
package final class Waiter: Sendable {
  /// The outcome of a wait.
  package enum Outcome: Sendable {
    case ended
    case timedOut
    case canceled
  }

  private enum State {
    case waiting(UnsafeContinuation<Outcome, Never>?)
    case over(Outcome)
  }

  private let state = Mutex(State.waiting(nil))

  private init() {}

  package var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

  /// Ends the wait.
  ///
  /// - Parameter outcome: The outcome of the wait.
  /// - Returns: `true` if the wait hadn't ended before.
  @discardableResult
  package func end(_ outcome: Outcome = .ended) -> Bool {
    let (isFirst, continuation) = state.withLock { state in
      guard case .waiting(let continuation) = state else {
        return (false, nil as UnsafeContinuation<Outcome, Never>?)
      }
      state = .over(outcome)
      return (true, continuation)
    }
    continuation?.resume(returning: outcome)
    return isFirst
  }

  /// Makes the wait time out at a moment, in microseconds of the monotonic clock, unless it ends before.
  ///
  /// Call this method in an event, on the thread that waits for it.
  package func end(at moment: Int64) {
    (ThreadExecutor.current ?? .ofOthers).end(self, at: moment)
  }

  private func park(_ continuation: UnsafeContinuation<Outcome, Never>) {
    let outcome: Outcome? = state.withLock { state in
      if case .over(let outcome) = state { return outcome }
      state = .waiting(continuation)
      return nil
    }
    if let outcome { continuation.resume(returning: outcome) }
  }

  /// Waits until the waiter ends, until a moment, or until the task is cancelled.
  ///
  /// - Parameters:
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil` to wait
  ///     without a limit.
  ///   - start: A closure that is called at once with the waiter that ends the wait.
  /// - Returns: The outcome of the wait.
  package nonisolated(nonsending) static func wait(until moment: Int64?, _ start: (Waiter) -> Void)
    async -> Outcome
  {
    if Task.isCancelled { return .canceled }
    if let moment, moment <= ThreadExecutor.now { return .timedOut }
    let waiter = Waiter()
    start(waiter)
    if let moment, !waiter.isOver {
      (ThreadExecutor.ofCurrentTask ?? .ofOthers).end(waiter, at: moment)
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter.park($0) }
    } onCancel: {
      waiter.end(.canceled)
    }
  }
}

extension SecureStorage {
  /// Returns the error of an operation whose wait for other operations timed out or was cancelled.
  ///
  /// - Parameters:
  ///   - wait: The outcome of the wait.
  ///   - operation: The operation that fails.
  ///   - reason: A sentence that says what the others did.
  /// - Returns: The error.
  package func error(
    _ wait: Waiter.Outcome, during operation: SecureStorageError.Operation, _ reason: String
  ) -> SecureStorageError {
    wait == .canceled
      ? error(.canceled, during: operation)
      : error(
        .timedOut, during: operation, message: reason,
        recoverySuggestion: "Try again when the others have ended.")
  }
}

/// The moments at which waits time out, the next one first.
struct Timers {
  private var entries: [(end: Int64, waiter: Waiter)] = []
  /// The number of leading entries that were taken out.
  private var first = 0
  /// The number of entries at which finished waits are removed.
  private var limit = 64

  /// The next moment, in microseconds of the monotonic clock.
  var next: Int64? { first < entries.count ? entries[first].end : nil }

  mutating func add(_ waiter: Waiter, at moment: Int64) {
    if entries.count >= limit {
      entries.removeFirst(first)
      first = 0
      entries.removeAll { $0.waiter.isOver }
      limit = max(64, 2 * entries.count)
    }
    // The new entry is usually the last one.
    var index = entries.count
    while index > first, entries[index - 1].end > moment { index -= 1 }
    entries.insert((moment, waiter), at: index)
  }

  /// Removes and returns the waits whose time is up.
  mutating func takeLate(_ now: Int64) -> [Waiter] {
    var late: [Waiter] = []
    while first < entries.count {
      let (end, waiter) = entries[first]
      if !waiter.isOver {
        guard end <= now else { break }
        late.append(waiter)
      }
      first += 1
    }
    return late
  }
}

/// The outcome of work that one task does and other tasks wait for.
package final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [Waiter] = []
    /// The moment until which waits with an earlier limit last.
    var extendedEnd: Int64 = .min
  }

  private let state = Mutex(State())

  package init() {}

  /// The outcome, or `nil` if there is none yet.
  package var value: Value? { state.withLock { $0.value } }

  /// Waits for the outcome.
  ///
  /// - Parameter moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil`
  ///   to wait without a limit. ``extendWaits(to:)`` postpones it.
  /// - Returns: The outcome of the wait.
  package nonisolated(nonsending) func wait(until moment: Int64?) async -> Waiter.Outcome {
    var moment = moment
    while true {
      let outcome = await Waiter.wait(until: moment) { waiter in
        let isThere = state.withLock { state in
          if state.value == nil { state.waiters.append(waiter) }
          return state.value != nil
        }
        if isThere { waiter.end() }
      }
      let extendedEnd = state.withLock(\.extendedEnd)
      guard outcome == .timedOut, let end = moment, extendedEnd > end else { return outcome }
      moment = extendedEnd
    }
  }

  /// Makes all waits last until a moment, unless they last longer.
  package func extendWaits(to moment: Int64) { state.withLock { $0.extendedEnd = moment } }

  /// Sets the outcome and ends all waits for it.
  package func settle(_ value: Value) {
    let waiters = state.withLock { state in
      state.value = value
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter.end() }
  }
}

/// A semaphore that suspends waiting tasks and resumes them in their order.
package final class TaskSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting = Queue<(count: Int, waiter: Waiter)>()
  }

  private let state: Mutex<State>

  /// The number of waiting tasks, and of those that gave up but are still queued behind others.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Creates a semaphore.
  ///
  /// - Parameter limit: The amount that can be taken at a time.
  package init(_ limit: Int) { state = Mutex(State(free: limit)) }

  /// Takes an amount as soon as it's free.
  ///
  /// - Parameters:
  ///   - count: The amount.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil` to wait
  ///     without a limit.
  /// - Returns: The outcome of the wait. Nothing is taken unless it's `.ended`.
  package func take(_ count: Int = 1, until moment: Int64?) async -> Waiter.Outcome {
    let isFree = state.withLock { state in
      guard state.waiting.isEmpty, state.free >= count else { return false }
      state.free -= count
      return true
    }
    if isFree { return .ended }
    let outcome = await Waiter.wait(until: moment) { waiter in
      state.withLock { $0.waiting.append((count, waiter)) }
      // Something may have been given back in the meantime.
      giveBack(0)
    }
    // The free amount may be enough for the next task.
    if outcome != .ended { giveBack(0) }
    return outcome
  }

  /// Gives back an amount that was taken, or takes a negative amount without waiting for it to be free.
  package func giveBack(_ count: Int = 1) {
    state.withLock { state in
      state.free += count
      while let (count, waiter) = state.waiting.first {
        if !waiter.isOver {
          guard state.free >= count else { return }
          if waiter.end() { state.free -= count }
        }
        _ = state.waiting.popFirst()
      }
    }
  }
}

/// A first-in, first-out queue whose operations take constant time on average.
struct Queue<Element> {
  /// The elements.
  ///
  /// A removed one is `nil` until its slot is removed, too.
  private var elements: [Element?] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var count: Int { elements.count - start }
  var first: Element? { isEmpty ? nil : elements[start] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard let first else { return nil }
    elements[start] = nil
    start += 1
    if start > elements.count / 2 {
      elements.removeFirst(start)
      start = 0
    }
    return first
  }
}

extension Queue: Sendable where Element: Sendable {}
