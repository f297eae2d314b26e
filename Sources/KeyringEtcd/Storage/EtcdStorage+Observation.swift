// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringStorage

extension EtcdStorage: ObservableStorage {
  /// Calls a closure for every change of the items, by any machine of the fleet.
  ///
  /// The cluster reports a change within milliseconds. After a lost connection, the storage reports
  /// ``/KeyringStorage/StorageEvent/interrupted``, connects to another node, and reports what has changed in
  /// the meantime. It notices within seven seconds that a node is silent.
  ///
  /// - Parameters:
  ///   - query: The items. A query for a key or a service watches the items of that service, or shares a watch of
  ///     more items. Any other query watches all items that the user may read. The loss of a role ends the watch of
  ///     its items, and the storage reports
  ///     ``/KeyringStorage/StorageEvent/mayHaveChanged(_:)``.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: `SecureStorageError` from the cluster.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await FleetOperation.perform(.observe, on: fleet) {
      (operation) throws(SecureStorageError) in
      try await fleet.watches.watch(operation.range(of: query)).observe(operation, observer)
    }
  }
}

extension EtcdStorage: ItemReportingStorage {
  /// Returns an item that an event has brought, as long as it's the latest that this process has seen.
  package func reportedItem(for key: ItemKey, details: ItemQuery.Details) -> SecureItem? {
    guard let keys = fleet.keys.current,
      let value = fleet.reportedValue(at: keys.names.item(key)), let item = try? keys.open(value)
    else { return nil }
    fleet.items[key] = KnownItems.Item(item)
    return item.item(details)
  }

  package func forgetReportedItems() { fleet.items.forgetReports() }
}
#endif
