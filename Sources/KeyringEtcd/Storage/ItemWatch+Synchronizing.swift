// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

extension ItemWatch {
  /// Reads what has changed, and returns an error or `nil`.
  func synchronize(_ fleet: Fleet) async -> SecureStorageError? {
    // Until the items are read, no observer is notified of changes.
    let alarm = Task(executorPreference: EventLoopExecutor.streaming) { [weak self] in
      let end = await Waiter.wait(until: .now(plus: .seconds(5))) { _ in }
      if end == .timedOut, !Task.isCancelled { self?.report(isConnected: false) }
    }
    defer { alarm.cancel() }
    do throws(SecureStorageError) {
      try await FleetOperation.perform(.observe, on: fleet) {
        (operation) throws(SecureStorageError) in
        let parts = try await operation.readableParts(of: range)
        let isDue = state.withLock { ThreadExecutor.now >= $0.nextList }
        if !isDue, try await catchUp(parts, operation) { return }
        try await list(parts, operation)
      }
    } catch {
      return error
    }
    reportUnlisted(fleet)
    return nil
  }

  /// Reports the items that this process has read or written, or is reading, but that are missing now.
  ///
  /// Such an item may have been created and removed since the last watch, hidden from watches and lists.
  private func reportUnlisted(_ fleet: Fleet) {
    guard let keys = fleet.keys.current else { return }
    for key in fleet.items.usedKeys {
      let place = keys.names.item(key)
      let isUnlisted = state.withLock { state in
        state.items[place] == nil && state.follows(EtcdRange(place))
      }
      guard isUnlisted else { continue }
      fleet.items[key] = nil
      observers.report(.mayHaveChanged(key))
    }
  }

  /// Reads the newest items, and reports what has changed.
  ///
  /// An item that is still as it was shows that the history of the cluster is the same up to its revision.
  /// Only a restored backup makes one of the others older.
  ///
  /// - Returns: `true`, or `false` to list all items: one was removed, all of the newest ones were changed, one is
  ///   unreadable, there are several parts or another one, the keys were changed, or the cluster has another history.
  private func catchUp(
    _ parts: [EtcdRange], _ operation: FleetOperation
  ) async throws(SecureStorageError) -> Bool {
    let (known, followed, hasUnreadable, conditions) = state.withLock {
      ($0.items, $0.parts, $0.hasUnreadable, $0.conditions)
    }
    let newest = known.sorted { $0.value.revision > $1.value.revision }.prefix(Self.witnessCount)
    guard parts.count == 1, followed.count == 1, let revision = followed[parts[0]], !hasUnreadable,
      let oldest = newest.last
    else { return false }
    var request = RangeRequest(parts[0])
    (request.limit, request.leastRevision) = (FleetOperation.pageLimit, oldest.value.revision)
    let page = try await operation.read { [request] _ in [request] }
    guard page.keys.conditions == conditions, page.revision >= revision,
      let reply = page.replies.first, !reply.hasMore
    else { return false }
    let places = Set(reply.values.map(\.key))
    guard places.isSuperset(of: newest.map(\.key)), places.union(known.keys).count == reply.total
    else { return false }
    let items = reply.values.map { ($0.key, (try? page.keys.open($0)).map(Seen.init)) }
    let isSameHistory = items.contains { place, item in
      known[place].map { $0.revision == item?.revision && $0.writeID == item?.writeID } ?? false
    }
    guard isSameHistory else { return false }
    operation.fleet.items.forgetReports()
    report(items)
    state.withLock { $0.parts = [parts[0]: page.revision] }
    return true
  }

  /// The number of the newest items of which one must be as it was.
  private static let witnessCount = 10

  /// The time after which everything is listed again, in seconds.
  ///
  /// etcd 3.4.23 can lose events of a watch during a compaction: etcd issue 17529. Machines that have lost a node at
  /// the same moment list at different moments.
  private static let listInterval = Int64(450)...750

  /// Lists the items, and reports what has changed.
  ///
  /// The difference is always that to all items. A cluster that was restored from a backup has another history
  /// with the same revisions.
  func list(
    _ parts: [EtcdRange], _ operation: FleetOperation
  ) async throws(SecureStorageError) {
    let (all, revision) = try await operation.list(parts) {
      (value, keys) -> (place: EtcdKey, item: Seen?)? in
      (value.key, (try? keys.open(value)).map(Seen.init))
    }
    operation.fleet.items.forgetReports()
    state.withLock { $0.hasUnreadable = false }
    let places = Set(all.map(\.place))
    for place in state.withLock({ Array($0.items.keys) }) where !places.contains(place) {
      if parts.contains(where: { $0.contains(place) }) {
        remove(place)
      } else {
        // The user may not read it any more. It may still be there.
        state.withLock { $0.items[place] = nil }
      }
    }
    report(all)
    let hasOthers = state.withLock { state in
      let old = state.parts
      state.parts = Dictionary(parts.map { ($0, revision) }) { $1 }
      // A role that was granted since the list began needs another one.
      let isComplete = state.unfollowed.allSatisfy(state.follows)
      state.unfollowed = []
      state.nextList = isComplete ? .now(plus: .seconds(Int64.random(in: Self.listInterval))) : 0
      return !isComplete || !old.isEmpty && Set(old.keys) != Set(parts)
    }
    // The items of new parts, and those that aren't followed, may have changed since they were read.
    if hasOthers { observers.report(.mayHaveChanged(nil)) }
  }

  /// Reports items in the order of their changes.
  private func report(_ items: [(place: EtcdKey, item: Seen?)]) {
    for (place, item) in items.sorted(by: { $0.item?.revision ?? 0 < $1.item?.revision ?? 0 }) {
      if let item { put(item, place) } else { reportUnreadable() }
    }
  }
}
#endif
