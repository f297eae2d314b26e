// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
public import KeyringStorage

internal import Synchronization

extension EtcdStorage: ObservableStorage {
  /// Calls a closure for every change of the items, by any machine of the fleet.
  ///
  /// The cluster reports a change within milliseconds. If the connection is lost, the storage reports
  /// ``/KeyringStorage/StorageEvent/interrupted``, connects to another node, and reports what has changed in
  /// the meantime. It notices within seven seconds that a node has stopped without closing the connection.
  ///
  /// - Parameters:
  ///   - query: The items. If the query names a key or a service, only the items of that service are
  ///     watched, unless there already is a watch of more items. Otherwise, all items that the user may read
  ///     are watched. If the user loses a role, its items are no longer watched, and the storage reports
  ///     ``/KeyringStorage/StorageEvent/mayHaveChanged(_:)``.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await fleet.perform(.observe) { (operation) throws(SecureStorageError) in
      try await fleet.watch(operation.range(of: query)).observe(operation, observer)
    }
  }
}

extension EtcdStorage: ItemReportingStorage {
  /// Returns an item that an event has brought, unless this process has seen a later state of the cluster.
  package func reportedItem(for key: ItemKey, details: ItemQuery.Details) -> SecureItem? {
    guard let keys = fleet.currentKeys,
      let value = fleet.reportedValue(at: keys.names.item(key)), let item = try? keys.open(value)
    else { return nil }
    fleet.known[key] = .init(record: item.record, revision: item.revision)
    return item.record.item(details, secret: item.secret)
  }

  package func forgetReportedItems() { fleet.reported.withLock { $0.forget() } }
}
#endif
