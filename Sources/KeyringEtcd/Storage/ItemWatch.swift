#if Etcd
internal import KeyringStorage
internal import Synchronization

/// A watch of the items in a range, which observers share.
///
/// It lasts as long as the storage.
final class ItemWatch: Sendable {
  /// An item as it was when it was last seen.
  private struct Seen: Sendable {
    let key: ItemKey
    let writeID: [UInt8]
  }

  private struct State: Sendable {
    var items: [EtcdKey: Seen] = [:]
    /// The revision up to which all changes were seen.
    var revision: Int64 = 0
    var isConnected = true
    var task: Task<Void, Never>?
  }

  let range: EtcdRange
  private let observers = ObserverList()
  private let state = Mutex(State())
  /// The permission to start the watch.
  private let starting = TaskSemaphore(1)

  init(_ range: EtcdRange) { self.range = range }

  deinit { state.withLock { $0.task?.cancel() } }

  /// The executor that follows all watches, so that no thread of the app's has to be free.
  private static let executor = {
    let executor = ThreadExecutor(Wakening())
    executor.start(named: "swift-keyring w")
    return executor
  }()

  /// Adds an observer, and starts the watch if it's the first one.
  func observe(
    _ session: Session, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let outcome = await starting.take(until: session.end)
    guard outcome == .ended else {
      throw session.fleet.error(outcome == .canceled ? .canceled : .timedOut)
    }
    defer { starting.giveBack() }
    if state.withLock({ $0.task == nil }) {
      try await synchronize(session)
      let client = session.client
      let task = Task(executorPreference: Self.executor) {
        [range, weak self, weak fleet = session.fleet] in
        var pause = Self.shortestPause
        while !Task.isCancelled, let start = self?.nextRevision {
          let isRenewal = await client.watch(
            range, from: start, until: .now(plus: Self.duration)
          ) { [weak self, weak fleet] reply in
            guard let self, let fleet else { return false }
            return await self.take(reply, fleet)
          }
          if self?.isConnected == true { pause = Self.shortestPause }
          var isLost = !isRenewal
          repeat {
            if isLost {
              self?.report(isConnected: false)
              _ = await Waiter.wait(until: ThreadExecutor.now + pause) { _ in }
              pause = min(2 * pause, 2_000_000)
            }
            // The storage isn't held during the pause.
            guard !Task.isCancelled, let self, let fleet else { return }
            isLost = await !self.synchronize(fleet)
          } while isLost
        }
      }
      state.withLock { $0.task = task }
    }
    let subscription = observers.add(observer)
    if !isConnected { observer(.interrupted) }
    return subscription
  }

  /// The shortest time between two attempts to watch, in microseconds.
  private static let shortestPause: Int64 = 50_000

  /// The time after which everything is listed again.
  ///
  /// etcd 3.4.23 can lose events of a watch while it compacts its database: etcd issue 17529.
  private static let duration = Duration.seconds(600)

  private var nextRevision: Int64 { state.withLock { $0.revision + 1 } }

  private var isConnected: Bool { state.withLock(\.isConnected) }

  /// Returns whether the watch reports each change of the items in a range.
  func follows(_ other: EtcdRange) -> Bool {
    range.contains(other) && state.withLock { $0.task != nil && $0.isConnected }
  }

  private func report(isConnected: Bool) {
    let isNew = state.withLock { state in
      defer { state.isConnected = isConnected }
      return state.isConnected != isConnected
    }
    if isNew { observers.report(isConnected ? .resumed : .interrupted) }
  }

  // MARK: - Following

  /// Takes a message of the watch, and returns `false` if the items must be listed again.
  private func take(_ reply: WatchReply, _ fleet: EtcdNamespace) async -> Bool {
    // A cluster that was restored from a backup has an older revision.
    let known = state.withLock { $0.revision }
    if reply.isCanceled || reply.revision < known { return false }
    if reply.isCreated { report(isConnected: true) }
    for event in reply.events {
      if event.isRemoval {
        fleet.see(event.value.revision)
        remove(event.value.key)
      } else if let item = await item(event.value, fleet) {
        fleet.reported.withLock { $0.put(event.value) }
        put(item, event.value.key)
      } else {
        fleet.see(event.value.revision)
        observers.report(.mayHaveChanged(nil))
      }
      // Other changes of this revision may follow in another message.
      state.withLock { $0.revision = max($0.revision, event.value.revision - 1) }
    }
    return true
  }

  /// Decrypts an item, or returns `nil` if it can't be decrypted.
  private func item(_ value: KeyValue, _ fleet: EtcdNamespace) async -> FleetItem? {
    if let item = try? fleet.currentKeys?.open(value) { return item }
    return try? await fleet.perform(.observe) { (session) throws(SecureStorageError) in
      try session.open(value, try await session.readKeys())
    }
  }

  private func put(_ item: FleetItem, _ place: EtcdKey) {
    let key = item.record.key
    let old = state.withLock { state in
      state.items.updateValue(Seen(key: key, writeID: item.writeID), forKey: place)
    }
    // Encrypting an item with another key doesn't change it.
    if old?.writeID == item.writeID { return }
    observers.report(.changed(old == nil ? .created(key) : .replaced(key)))
  }

  private func remove(_ place: EtcdKey) {
    guard let old = state.withLock({ $0.items.removeValue(forKey: place) }) else { return }
    observers.report(.changed(.removed(old.key)))
  }

  // MARK: - Synchronizing

  private func synchronize(_ fleet: EtcdNamespace) async -> Bool {
    let outcome: Void? = try? await fleet.perform(.observe) {
      (session) throws(SecureStorageError) in
      try await synchronize(session)
    }
    return outcome != nil
  }

  /// Lists the items, and reports what has changed.
  ///
  /// The difference is always that to all items. A cluster that was restored from a backup has another history
  /// with the same revisions.
  private func synchronize(_ session: Session) async throws(SecureStorageError) {
    var (all, revision) = try await session.list([range]) {
      (value, keys) -> (place: EtcdKey, item: FleetItem?)? in
      (value.key, try? keys.open(value))
    }
    session.fleet.reported.withLock { $0.forget() }
    let places = Set(all.map(\.place))
    for place in state.withLock({ Array($0.items.keys) }) where !places.contains(place) {
      remove(place)
    }
    all.sort { $0.item?.revision ?? 0 < $1.item?.revision ?? 0 }
    for (place, item) in all {
      if let item { put(item, place) } else { observers.report(.mayHaveChanged(nil)) }
    }
    state.withLock { $0.revision = revision }
  }
}
#endif
