// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringSealing
public import KeyringStorage

extension EtcdStorage {
  /// Returns the permissions that a user of the cluster needs for the items of a service.
  ///
  /// ```swift
  /// for permission in try await storage.permissions(for: .password(service: "mail", account: "me")) {
  ///   print("etcdctl role grant-permission --prefix mail \(permission)")
  /// }
  /// ```
  ///
  /// The service is that of a key. An internet password belongs to its server.
  ///
  /// The last one is for the turns that `update` and `refresh` take. A role that lacks it, because it was granted by an
  /// earlier version of this package, gets `.accessDenied` from them alone: grant it the permissions again.
  ///
  /// - Parameter key: A key of the service.
  /// - Returns: The permissions to grant to a role of the user.
  /// - Throws: `SecureStorageError` if the keys of the namespace can't be read.
  public func permissions(for key: ItemKey) async throws(SecureStorageError) -> [EtcdPermission] {
    try await FleetOperation.perform(.read, on: fleet) { (operation) throws(SecureStorageError) in
      let (namespace, service) = (
        operation.namespace, try await operation.keys().names.service(of: key)
      )
      return [namespace.meta, namespace.primary, namespace.keys].map {
        EtcdPermission(prefix: $0.path, isWritable: false)
      }
        + [service.items, service.writes, service.turns].map {
          EtcdPermission(prefix: $0.path, isWritable: true)
        }
    }
  }

  /// Creates the namespace and its keys, or leaves an existing one as it is.
  ///
  /// ```swift
  /// let isNew = try await storage.createNamespace()
  /// print(isNew ? "created" : "was there already")
  /// ```
  ///
  /// After `.connectionLost`, the namespace may have been created. Call the method again with the same key: it
  /// returns `false` for a namespace that the first call created.
  ///
  /// - Returns: `true` for a new namespace, or `false` for an existing one that the key opens.
  /// - Throws: `.wrongKey` for a namespace with another key, `.damaged` for one with a missing part, or an error of
  ///   the cluster.
  @discardableResult
  public func createNamespace() async throws(SecureStorageError) -> Bool {
    try await FleetOperation.perform(.initialize, on: fleet) {
      (operation) throws(SecureStorageError) in
      // A source that creates its key must not do so for a namespace that exists.
      if try await operation.hasNamespace() { return false }
      let changes = try await operation.pausing { () async throws(SecureStorageError) in
        try await NamespaceKeys.creation(
          of: operation.namespace, fleet.keys.source, fleet.keys.request(.creation))
      }
      return try await operation.commitKeys(changes, nil)
    }
  }

  // MARK: - Changing keys

  /// Wraps the keys of the namespace with another key, for example after a machine left the fleet.
  ///
  /// ```swift
  /// try await storage.rewrapKeys(with: .systemdCredential("new-fleet-key"))
  /// try await storage.rotateDataKey()
  /// ```
  ///
  /// Running processes go on with the keys that they have. A process that starts later needs the new key.
  /// The items keep their encryption: only ``rotateDataKey()`` shuts out someone who has already read the keys.
  ///
  /// After `.connectionLost`, one of the two keys opens the namespace. Keep both, and call the method again. It
  /// does nothing to a namespace that the new key already opens.
  ///
  /// - Parameter key: The source of the new key, which this storage uses from now on.
  /// - Throws: `.wrongKey` after another process has changed the key, or an error of the cluster or of a source.
  public func rewrapKeys(with key: KeySource) async throws(SecureStorageError) {
    try await FleetOperation.perform(.rewrapKeys, on: fleet) {
      (operation) throws(SecureStorageError) in
      while true {
        let keys = try await operation.readKeys()
        let changes = try await operation.pausing { () async throws(SecureStorageError) in
          try await keys.rewrapping(
            from: fleet.keys.source, to: key, { fleet.keys.request($0) })
        }
        guard let changes else { break }
        if try await operation.commitKeys(changes, keys) { break }
      }
      fleet.keys.source = key
    }
  }

  /// Encrypts all items with a new data key, and removes the older ones.
  ///
  /// ```swift
  /// let count = try await storage.rotateDataKey()
  /// print("\(count) items have a new key")
  /// ```
  ///
  /// From the beginning on, all processes write with the new key. After a process that ended too early, call this
  /// method again. It makes another key, and finishes the work.
  ///
  /// - Returns: The number of items that were encrypted again.
  /// - Throws: `.damaged` for an item that can't be decrypted: all others have the new key then, and the older keys
  ///   are still there. Otherwise, an error of the cluster or of the source.
  @discardableResult
  public func rotateDataKey() async throws(SecureStorageError) -> Int {
    try await FleetOperation.perform(.rotateDataKey, on: fleet) {
      (operation) throws(SecureStorageError) in
      var keys = try await operation.readKeys()
      var (count, idleRounds, hasNewKey) = (0, 0, false)
      // Another process may do the same at the same time, and finish first.
      while !hasNewKey || !keys.primary.older.isEmpty {
        // The key of a replacement that wasn't finished may be known to a thief.
        if !hasNewKey, keys.primary.older.count < Self.mostOlderKeys {
          let changes = try await operation.pausing { [keys] () async throws(SecureStorageError) in
            try await keys.addingDataKey(fleet.keys.source, fleet.keys.request(.opening))
          }
          hasNewKey = try await operation.commitKeys(changes, keys)
        } else {
          let (moved, isComplete) = try await operation.moveItems(to: keys)
          count += moved
          idleRounds = moved > 0 ? 0 : idleRounds + 1
          if idleRounds == FleetOperation.mostIdleRounds { throw operation.outpaced }
          if isComplete { _ = try await operation.commitKeys(keys.removingOlderDataKeys, keys) }
        }
        keys = try await operation.readKeys()
      }
      return count
    }
  }

  /// The most older data keys, which are removed in one transaction.
  private static let mostOlderKeys = 60
}

extension FleetOperation {
  /// Returns `true` for an existing namespace, after opening it with the key.
  fileprivate func hasNamespace() async throws(SecureStorageError) -> Bool {
    let known = fleet.keys.current
    let answer = try await transact(Transaction(success: NamespaceKeys.requests(namespace)))
    // A process that has used the namespace doesn't take a new one for it.
    if known == nil, answer.reply.ranges.allSatisfy(\.values.isEmpty) { return false }
    _ = try await takeKeys(answer.reply.ranges, after: known)
    return true
  }

  /// Makes changes, and returns `false` after a change of the keys or the values by another process.
  fileprivate func commitKeys(
    _ changes: [ConditionalChange], _ keys: NamespaceKeys?
  ) async throws(SecureStorageError) -> Bool {
    let outcome = try await commit(changes, service: namespace.administration, keys)
    if case .done = outcome { return true }
    return false
  }

  /// Encrypts the items that are encrypted with an older data key with the one for new items.
  ///
  /// - Parameter target: The keys, whose replacement interrupts the work.
  /// - Returns: The number of items, and `false` for work that other changes have interrupted.
  /// - Throws: `.damaged` for an item that can't be decrypted, after all others were written, or an error of the
  ///   cluster.
  fileprivate func moveItems(
    to target: NamespaceKeys
  ) async throws(SecureStorageError) -> (count: Int, isComplete: Bool) {
    var (count, isComplete) = (0, true)
    var damage: SecureStorageError?
    var next: EtcdKey?
    var limit = Self.firstPageLimit
    repeat {
      renew()
      let (keys, replies, _) = try await read { _ in
        var page = RangeRequest(prefix: namespace.items)
        if let next { page.key = next }
        page.limit = limit
        return [page]
      }
      guard let page = replies.first, keys.conditions == target.conditions else {
        return (count, false)
      }
      var batch: [ConditionalChange] = []
      var size = 0
      func commitBatch() async throws(SecureStorageError) {
        if batch.isEmpty { return }
        if try await commitKeys(batch, keys) {
          count += batch.count
        } else {
          isComplete = false
        }
        (batch, size) = ([], 0)
      }
      for value in page.values where !keys.isCurrent(value) {
        let item: FleetItem
        do throws(SecureStorageError) {
          item = try open(value, keys)
        } catch {
          damage = damage ?? error
          continue
        }
        guard let sealed = try? keys.seal(item.moved, value.key) else {
          throw fleet.settings.error(.other, "An item can't be encrypted.")
        }
        if size + sealed.count > Self.batchByteLimit { try await commitBatch() }
        batch.append(ConditionalChange(key: value.key, revision: value.revision, value: sealed))
        size += sealed.count
      }
      try await commitBatch()
      limit = min(Self.batchLimit, Self.pageLimit(after: page.values))
      next = page.hasMore ? page.values.last?.key.next : nil
    } while next != nil
    if let damage { throw damage }
    return (count, isComplete)
  }

  /// The most items of a transaction.
  private static var batchLimit: Int { 64 }
  /// The most bytes of several items of a transaction.
  ///
  /// As JSON, they take a third more. Many proxies refuse requests of more than 1 MiB.
  private static var batchByteLimit: Int { 1 << 19 }
}
#endif
