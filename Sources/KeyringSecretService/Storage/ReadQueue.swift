// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A queue that combines reads that tasks ask for while others are in progress.
///
/// The first reads are sent at once, each by itself. Later reads wait and become one batch, with each key
/// once. A read never uses an answer to a question that was asked before the read began. It sees
/// everything that any program has written until then.
final class ReadQueue: Sendable {
  static let shared = ReadQueue()

  /// The options and details that the reads of a batch have in common.
  fileprivate struct Route: Equatable {
    let options: SecretServiceStorage.Options
    let rawDetails: ItemQuery.Details.RawValue

    var storage: SecretServiceStorage { SecretServiceStorage(options: options) }
    var details: ItemQuery.Details { ItemQuery.Details(rawValue: rawDetails) }
  }

  fileprivate struct Line {
    let route: Route
    var travelling = 0
    /// The batches that wait, in the order in which they will start.
    var waiting: [Batch] = []
  }

  /// The maximum number of concurrent batches of a route, apart from those that wait for the user.
  private static let mostTravelling = 2
  /// The maximum number of keys in a batch of several reads.
  private static let mostKeys = 1000

  private let lines = Mutex<[Line]>([])
  /// The number of reads that have a batch, which tests wait for.
  let reads = Atomic(0)

  /// Finds the items with these keys.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  ///   - storage: The storage.
  /// - Returns: The found items, by key.
  /// - Throws: The error of an item that is unreadable or may be hidden.
  nonisolated(nonsending) func items(
    for keys: [ItemKey], _ details: ItemQuery.Details, in storage: SecretServiceStorage
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let arrival = ThreadExecutor.now
    let deadline = Deadline(after: storage.options.serviceTimeout)
    let route = Route(options: storage.options, rawDetails: details.rawValue)
    let (batch, mustStart) = join(keys, route)
    reads.add(1, ordering: .relaxed)
    defer { reads.subtract(1, ordering: .relaxed) }
    if mustStart { start(batch, on: route) }
    if let failure = await wait(for: batch, until: deadline).failure {
      leave(batch, on: route)
      throw SecretSession.OpeningFailure(failure).error(.read, of: storage, since: arrival)
    }
    switch batch.outcome.value ?? .success([:]) {
    case .success(let items):
      return Dictionary(
        uniqueKeysWithValues: keys.compactMap { key in items[key].map { (key, $0) } })
    case .failure(let failure):
      guard batch.isShared, failure.code.mayBeAnItems else { throw failure }
      let isRefusal =
        batch.hasAsked && [.locked, .userCanceled, .wrongKey].contains(failure.code)
      return try await retry(keys, on: route, after: isRefusal ? failure : nil)
    }
  }

  /// Waits for a batch.
  ///
  /// Answers to a large batch renew the deadline, as in a synchronous call. If the user was asked, the wait
  /// lasts as long as a prompt may be open.
  private nonisolated(nonsending) func wait(
    for batch: Batch, until deadline: Deadline
  ) async -> Waiter.Outcome {
    let end = await batch.outcome.wait(until: deadline.end)
    return end == .timedOut && batch.hasAsked ? await batch.outcome.wait(until: nil) : end
  }

  // MARK: - Batches

  private func join(_ keys: [ItemKey], _ route: Route) -> (batch: Batch, mustStart: Bool) {
    lines.withLock { lines in
      let line = lines.place(of: route)
      if lines[line].travelling < Self.mostTravelling {
        lines[line].travelling += 1
        return (Batch(keys), true)
      }
      if let last = lines[line].waiting.last, last.count + keys.count <= Self.mostKeys {
        last.add(keys)
        return (last, false)
      }
      let batch = Batch(keys)
      lines[line].waiting.append(batch)
      return (batch, false)
    }
  }

  private func start(_ batch: Batch, on route: Route) {
    batch.run {
      let outcome = await Result { () async throws(SecureStorageError) in
        try await route.storage.find(batch.keys, route.details) { isAsking in
          if isAsking { batch.noteQuestion() }
          self.move(route, by: isAsking ? -1 : 1)
        } whenRenewed: {
          batch.outcome.extendWaits(to: .now(plus: route.options.serviceTimeout))
        }
      }
      // A read that begins after this one has ended isn't kept waiting by it.
      self.move(route, by: -1)
      batch.outcome.settle(outcome)
    }
  }

  /// Records that batches have started or ended, and starts those that may start now.
  private func move(_ route: Route, by change: Int) {
    let next = lines.withLock { lines -> [Batch] in
      let line = lines.place(of: route)
      lines[line].travelling += change
      var next: [Batch] = []
      while lines[line].travelling < Self.mostTravelling, !lines[line].waiting.isEmpty {
        lines[line].travelling += 1
        next.append(lines[line].waiting.removeFirst())
      }
      if lines[line].travelling == 0 { lines.remove(at: line) }
      return next
    }
    for batch in next { start(batch, on: route) }
  }

  /// Withdraws a read from its batch.
  ///
  /// A batch that its last read leaves is cancelled, and maybe never starts.
  private func leave(_ batch: Batch, on route: Route) {
    let isLast = lines.withLock { lines in
      let isLast = batch.leave()
      if isLast, let line = lines.firstIndex(where: { $0.route == route }) {
        lines[line].waiting.removeAll { $0 === batch }
      }
      return isLast
    }
    if isLast { batch.cancel() }
  }

  // MARK: - Failures

  /// A semaphore that limits the concurrent retries of reads whose batches failed.
  private let retries = TaskSemaphore(64)

  /// Finds items separately after their batch failed, perhaps because of another read's item.
  ///
  /// The refusal is the batch's error after the user declined to unlock something. The user is spared another question
  /// then, and a read whose item is still locked throws the same error.
  ///
  /// Inlined, it would cost each waiting read memory.
  @inline(never)
  private func retry(
    _ keys: [ItemKey], on route: Route, after refusal: SecureStorageError?
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let deadline = Deadline(after: route.options.serviceTimeout)
    if let failure = await retries.take(until: deadline.end).failure {
      throw SecretSession.OpeningFailure(failure).error(.read, of: route.storage)
    }
    defer { retries.giveBack() }
    var options = route.options
    if refusal != nil { options.interaction = .never }
    options.serviceTimeout = deadline.remaining
    do throws(SecureStorageError) {
      return try await SecretServiceStorage(options: options).find(keys, route.details) {
        isAsking in
        // A retry that waits for the user makes room for another one.
        self.retries.giveBack(isAsking ? 1 : -1)
      }
    } catch {
      if error.code == .locked, let refusal { throw refusal }
      throw error
    }
  }
}

extension [ReadQueue.Line] {
  /// Returns the index of the line of a route, which is new if no read travels on it.
  fileprivate mutating func place(of route: ReadQueue.Route) -> Int {
    if let index = firstIndex(where: { $0.route == route }) { return index }
    append(ReadQueue.Line(route: route))
    return count - 1
  }
}

extension SecretServiceStorage {
  /// Finds the items stored under keys.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  ///   - whenAsking: A closure that is called with `true` when the user is asked, and with `false` when
  ///     that is over.
  ///   - whenRenewed: A closure that is called each time that answers renew the deadline.
  /// - Returns: The found items, by key.
  /// - Throws: The error of an item that is unreadable or may be hidden.
  @concurrent func find(
    _ keys: [ItemKey], _ details: ItemQuery.Details,
    whenAsking: @escaping (Bool) -> Void = { _ in }, whenRenewed: @escaping () -> Void = {}
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let questions = { options.collection.searches(for: keys) }
    return try await perform(.read, prefetching: questions) {
      (call) async throws(SecureStorageError) in
      (call.whenAsking, call.whenRenewed) = (whenAsking, whenRenewed)
      return try await ItemFinder(call).items(for: keys, details)
    }
  }
}

/// A batch of reads that are sent together.
private final class Batch: Sendable {
  private struct State: Sendable {
    var keys: Set<ItemKey>
    var readers = 1
    var isShared = false
    var hasAsked = false
    var task: Task<Void, Never>?
  }

  private let state: Mutex<State>
  let outcome = SharedOutcome<Result<[ItemKey: SecureItem], SecureStorageError>>()

  init(_ keys: [ItemKey]) { state = Mutex(State(keys: Set(keys))) }

  var keys: [ItemKey] { state.withLock { Array($0.keys) } }

  var count: Int { state.withLock { $0.keys.count } }

  /// `true` after several reads joined.
  var isShared: Bool { state.withLock { $0.isShared } }

  /// `true` after a question to the user, which takes extra time.
  var hasAsked: Bool { state.withLock { $0.hasAsked } }

  func noteQuestion() { state.withLock { $0.hasAsked = true } }

  func add(_ keys: [ItemKey]) {
    state.withLock { state in
      state.keys.formUnion(keys)
      state.readers += 1
      state.isShared = true
    }
  }

  func run(_ body: @escaping @Sendable () async -> Void) {
    let task = CallLoop.start(KeyringEvent.inheritingLogger(body))
    let wasLeft = state.withLock { state in
      state.task = task
      return state.readers == 0
    }
    if wasLeft { task.cancel() }
  }

  /// Withdraws a read from the batch.
  ///
  /// - Returns: `true` for the last one.
  func leave() -> Bool {
    state.withLock { state in
      state.readers -= 1
      return state.readers == 0
    }
  }

  /// Cancels a batch that every read has left.
  func cancel() { state.withLock(\.task)?.cancel() }
}

extension SecureStorageError.Code {
  /// `true` for an error that a single item may have caused, rather than the connection or the provider.
  fileprivate var mayBeAnItems: Bool {
    [.locked, .userCanceled, .wrongKey, .ambiguous, .undecodable, .invalidArgument, .other]
      .contains(self)
  }
}
#endif
