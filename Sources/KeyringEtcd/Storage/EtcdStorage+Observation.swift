#if Etcd
public import KeyringStorage

extension EtcdStorage: ObservableStorage {
  /// Calls a closure for every change of the items, by any machine of the fleet.
  ///
  /// The cluster reports a change within milliseconds. If the connection is lost, the storage reports
  /// ``/KeyringStorage/StorageEvent/interrupted``, connects to another node, and reports what has changed in
  /// the meantime. It notices within seven seconds that a node has stopped without closing the connection.
  ///
  /// - Parameters:
  ///   - query: The items. If the query names a key or a service, only the items of that service are
  ///     watched.
  ///     Otherwise, all items that the user may read are watched.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }

  /// Calls a closure for every change of the items, without blocking the task's thread.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await fleet.observe(query, observer)
  }
}

extension EtcdNamespace {
  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await perform(.observe) { (session) throws(SecureStorageError) in
      var subscriptions: [StorageSubscription] = []
      for range in try await session.ranges(of: query) {
        let watch = watch(range) { ItemWatch(range) }
        subscriptions.append(try await watch.observe(session, observer))
      }
      return StorageSubscription { [subscriptions] in
        for subscription in subscriptions { subscription.cancel() }
      }
    }
  }
}
#endif
