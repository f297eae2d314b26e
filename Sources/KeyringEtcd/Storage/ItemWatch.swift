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
    /// `true` as soon as there may be unreadable items, which `items` lacks.
    var hasUnreadable = false
    /// The parts that are followed, with the revision up to which all changes were seen.
    var parts: [EtcdRange: Int64] = [:]
    /// The parts whose changes the cluster has begun to report.
    var begun: Set<EtcdRange> = []
    var isConnected = true
    /// The ranges that were read outside of the parts.
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
  let keyRefresh = KeyRefresh()
  /// The permission to start the watch.
  let starting = TaskSemaphore(1)
  /// The permission to notify observers that the watch is interrupted or resumed.
  let reporting = Mutex(())

  init(_ range: EtcdRange) { self.range = range }

  deinit { state.withLock { $0.task?.cancel() } }

  func endWithoutObservers() {
    state.withLock { if observers.isEmpty { $0.task?.cancel() } }
  }

  /// Whether the watch knows no items.
  var isEmpty: Bool { state.withLock(\.items.isEmpty) }

  func forgetItems() {
    state.withLock { ($0.items, $0.hasUnreadable, $0.unfollowed) = ([:], false, []) }
  }

  var isRunning: Bool { state.withLock(\.isRunning) }

  var isConnected: Bool { state.withLock(\.isConnected) }

  /// Returns whether the watch reports each change of the items in a range.
  func follows(_ other: EtcdRange) -> Bool {
    state.withLock { $0.isRunning && $0.isConnected && $0.follows(other) }
  }

  /// Lists the items again after a read of others, to which a new role admits the user.
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
    let isChange = reporting.withLock { _ in
      let wasConnected = state.withLock { exchange(&$0.isConnected, with: isConnected) }
      if wasConnected != isConnected { observers.collect(isConnected ? .resumed : .interrupted) }
      return wasConnected != isConnected
    }
    KeyringEvent.report(
      !isChange
        ? nil
        : isConnected
          ? .observationResumed(backend: FleetSettings.backendName)
          : .observationInterrupted(backend: FleetSettings.backendName))
    observers.deliver()
  }

  // MARK: - Items

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
