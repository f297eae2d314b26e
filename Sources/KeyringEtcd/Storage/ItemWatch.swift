// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A watch of the items in a range, which observers share.
///
/// It lasts as long as it has an observer. It follows the parts of the range that the user may read.
final class ItemWatch: Sendable {
  /// An item as it was when it was last seen.
  struct Seen: Sendable {
    let key: ItemKey
    let writeID: [UInt8]
    /// The revision in which the value was last changed.
    let revision: Int64

    init(_ item: FleetItem) {
      (key, writeID, revision) = (item.record.key, item.writeID, item.revision)
    }
  }

  struct State: Sendable {
    var items: [EtcdKey: Seen] = [:]
    /// Whether there may be items that can't be decrypted, which aren't among the others.
    var hasUnreadable = false
    /// The parts that are followed, with the revision up to which all changes were seen.
    var parts: [EtcdRange: Int64] = [:]
    /// The parts whose changes the cluster has begun to report.
    var begun: Set<EtcdRange> = []
    var isConnected = true
    /// The ranges that were read although they weren't followed.
    var unfollowed: Set<EtcdRange> = []
    /// An event that makes the watch list all items again.
    var renewal = SharedOutcome<Void>()
    /// The conditions that the keys meet with which the items were decrypted.
    var conditions: [Transaction.Comparison] = []
    /// The moment at which all items are listed again, in microseconds of the monotonic clock.
    var nextList: Int64 = 0
    var task: Task<Void, Never>?
    /// The end of the task.
    var ended: SharedOutcome<Void>?

    var isRunning: Bool { task.map { !$0.isCancelled } ?? false }

    func follows(_ range: EtcdRange) -> Bool { parts.keys.contains { $0.contains(range) } }
  }

  let range: EtcdRange
  let observers = ObserverList()
  let state = Mutex(State())
  private let keyRefresh = KeyRefresh()
  /// The permission to start the watch.
  private let starting = TaskSemaphore(1)
  /// The permission to notify observers that the watch is interrupted or resumed.
  private let reporting = Mutex(())

  init(_ range: EtcdRange) { self.range = range }

  deinit { state.withLock { $0.task?.cancel() } }

  /// Adds an observer, and starts the watch if it's the first one.
  ///
  /// - Parameters:
  ///   - operation: The operation that observes.
  ///   - observer: The closure to call with every event.
  /// - Returns: The subscription. When the last one ends, so does the watch.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
  func observe(
    _ operation: Operation, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let outcome = await starting.take(until: operation.end)
    guard outcome == .ended else {
      throw operation.fleet.error(outcome == .canceled ? .canceled : .timedOut)
    }
    defer { starting.giveBack() }
    var subscription: StorageSubscription?
    var wasInterrupted = false
    repeat {
      // Otherwise, the observer would hear of all items when they're listed again. It may not have heard yet of what was
      // reported.
      subscription = nil
      if !isRunning { try await start(operation) }
      subscription = reporting.withLock { _ in
        let event: StorageEvent? =
          isConnected ? wasInterrupted ? .resumed : nil : .interrupted
        wasInterrupted = !isConnected
        return observers.add(observer, reporting: event)
      }
      // Another observer, the last one, may just have left.
    } while !isRunning
    // The subscription keeps the state of the storage, and with it the watch.
    return StorageSubscription { [fleet = operation.fleet, subscription] in
      subscription?.cancel()
      self.endWithoutObservers()
      withExtendedLifetime(fleet) {}
    }
  }

  private func start(_ operation: Operation) async throws(SecureStorageError) {
    // What an earlier watch still reports must not follow the list.
    if let outcome = await state.withLock(\.ended)?.wait(until: operation.end), outcome != .ended {
      throw operation.fleet.error(outcome == .canceled ? .canceled : .timedOut)
    }
    try await list(operation.readableParts(of: range), operation)
    // An observer of the watch before it may still be there.
    report(isConnected: true)
    let (client, ended) = (operation.client, SharedOutcome<Void>())
    // The first observer's task-local values don't belong to the others. No thread of the app's has to be free.
    let task = Task.detached(executorPreference: HTTPTransport.streamingThread) {
      [weak self, weak fleet = operation.fleet] in
      defer {
        self?.forgetItems()
        ended.settle(())
      }
      var pause = Self.shortestPause
      while !Task.isCancelled, let conditions = fleet?.currentKeys?.conditions,
        let (parts, end, renewal) = self?.begin(conditions)
      {
        let isRenewal = await client.watch(
          parts, while: conditions, until: end, or: renewal
        ) { [weak self, weak fleet] part, reply in
          guard let self, let fleet else { return false }
          return await self.take(reply, of: part, fleet)
        }
        // Changes may be missing until the next watch begins.
        fleet?.reported.withLock { $0.forget() }
        if Task.isCancelled { return }
        if self?.isConnected == true { pause = Self.shortestPause }
        var isLost = !isRenewal
        var error: SecureStorageError?
        repeat {
          if isLost {
            self?.report(isConnected: false)
            // A node takes long to check a password.
            let isRefused = error?.isRefusedPassword == true
            pause = min(pause, isRefused ? Self.longestPauseOfRefused : Self.longestPause)
            // Machines that have lost a node at the same moment don't come back at the same moment.
            let moment = ThreadExecutor.now + .random(in: pause / 2...pause)
            _ = await Waiter.wait(until: moment) { _ in }
            pause *= 2
          }
          // The storage isn't held during the pause.
          guard !Task.isCancelled, let self, let fleet else { return }
          error = await self.synchronize(fleet)
          isLost = error != nil
        } while isLost
      }
    }
    state.withLock { ($0.task, $0.ended) = (task, ended) }
  }

  /// Returns what to watch, with the first revision of each part, and when to stop.
  ///
  /// The watch begins with a revision that was seen, whose events are dropped. A watch from the next one on would
  /// miss a removal up to which etcd 3.4.23 has just compacted the history: etcd issue 18089.
  private func begin(
    _ conditions: [Transaction.Comparison]
  ) -> ([EtcdRange: Int64], end: Int64, SharedOutcome<Void>) {
    state.withLock { state in
      (state.begun, state.renewal, state.conditions) = ([], SharedOutcome(), conditions)
      return (state.parts, state.nextList, state.renewal)
    }
  }

  private func endWithoutObservers() {
    state.withLock { if observers.isEmpty { $0.task?.cancel() } }
  }

  /// Whether the watch knows no items.
  var isEmpty: Bool { state.withLock(\.items.isEmpty) }

  private func forgetItems() {
    state.withLock { ($0.items, $0.hasUnreadable, $0.unfollowed) = ([:], false, []) }
  }

  private var isRunning: Bool { state.withLock(\.isRunning) }

  /// The shortest time between two attempts to watch, in microseconds.
  private static let shortestPause: Int64 = 50_000
  private static let longestPause: Int64 = 2_000_000
  private static let longestPauseOfRefused: Int64 = 60_000_000

  private var isConnected: Bool { state.withLock(\.isConnected) }

  /// Returns whether the watch reports each change of the items in a range.
  func follows(_ other: EtcdRange) -> Bool {
    state.withLock { $0.isRunning && $0.isConnected && $0.follows(other) }
  }

  /// Lists the items again if the user may read some that aren't followed, because a role was granted since.
  func noticeRead(of ranges: [EtcdRange]) {
    let renewal = state.withLock { state -> SharedOutcome<Void>? in
      let news = ranges.filter { range.contains($0) && !state.follows($0) }
      if news.isEmpty || !state.isRunning { return nil }
      state.unfollowed.formUnion(news)
      state.nextList = 0
      return state.renewal
    }
    renewal?.settle(())
  }

  /// Lists the items again, because the cluster has another history.
  func forgetHistory() {
    let renewal = state.withLock { state -> SharedOutcome<Void>? in
      state.nextList = 0
      return state.isRunning ? state.renewal : nil
    }
    guard let renewal else { return }
    // Items that weren't listed yet may be deleted, too.
    observers.report(.mayHaveChanged(nil))
    renewal.settle(())
  }

  func report(isConnected: Bool) {
    reporting.withLock { _ in
      let wasConnected = state.withLock { exchange(&$0.isConnected, with: isConnected) }
      if wasConnected != isConnected { observers.collect(isConnected ? .resumed : .interrupted) }
    }
    observers.deliver()
  }

  // MARK: - Events

  /// Takes a message of the watch, and returns `false` if the items must be listed again.
  private func take(_ reply: WatchReply, of part: EtcdRange, _ fleet: Fleet) async -> Bool {
    // A cluster that was restored from a backup has an older revision.
    let known = state.withLock { $0.parts[part] ?? .max }
    if reply.isCanceled || reply.revision < known { return false }
    guard reply.events.allSatisfy({ part.contains($0.value.key) }) else { return false }
    let events = reply.events.filter { $0.value.revision > known }
    if reply.isCreated {
      let isComplete = state.withLock { state in
        state.begun.insert(part)
        return state.begun.count == state.parts.count
      }
      if isComplete { report(isConnected: true) }
    }
    for event in events {
      if event.isRemoval {
        fleet.see(event.value.revision)
        remove(event.value.key)
      } else if let item = await item(event.value, fleet) {
        // An older data key may have been removed by now, so a value that needs it is read from the cluster.
        if fleet.currentKeys?.isCurrent(event.value) == true {
          fleet.reported.withLock { $0.put(event.value) }
        } else {
          fleet.see(event.value.revision)
        }
        put(Seen(item), event.value.key)
      } else {
        fleet.see(event.value.revision)
        reportUnreadable()
      }
    }
    // Other changes of the last revision may follow in another message.
    if let last = events.last?.value.revision {
      state.withLock { $0.parts[part] = max(known, last - 1) }
    }
    return true
  }

  /// Decrypts an item, or returns `nil` if it can't be decrypted.
  private func item(_ value: KeyValue, _ fleet: Fleet) async -> FleetItem? {
    if let item = try? fleet.currentKeys?.open(value) { return item }
    await keyRefresh.perform(fleet)
    if let item = try? fleet.currentKeys?.open(value) { return item }
    // If the keys aren't those of the cluster, the next question to the node ends the watch.
    keyRefresh.postpone()
    return nil
  }

  func put(_ item: Seen, _ place: EtcdKey) {
    let old = state.withLock { $0.items.updateValue(item, forKey: place) }
    // Encrypting an item with another key doesn't change it.
    if old?.writeID == item.writeID { return }
    observers.report(.changed(old == nil ? .created(item.key) : .replaced(item.key)))
  }

  func remove(_ place: EtcdKey) {
    let old = state.withLock { $0.items.removeValue(forKey: place) }
    observers.report(old.map { .changed(.removed($0.key)) } ?? .mayHaveChanged(nil))
  }

  func reportUnreadable() {
    state.withLock { $0.hasUnreadable = true }
    observers.report(.mayHaveChanged(nil))
  }
}
#endif
