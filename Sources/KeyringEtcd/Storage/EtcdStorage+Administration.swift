// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringSealing
public import KeyringStorage

internal import Synchronization

extension EtcdStorage {
  /// Returns the permissions that a user of the cluster needs for the items of a service.
  ///
  /// The service is that of a key. An internet password belongs to its server.
  ///
  /// - Parameter key: A key of the service.
  /// - Returns: The permissions to grant to a role of the user.
  /// - Throws: `SecureStorageError` if the keys of the namespace can't be read.
  public func permissions(for key: ItemKey) async throws(SecureStorageError) -> [EtcdPermission] {
    try await fleet.perform(.read) { (operation) throws(SecureStorageError) in
      let (namespace, service) = (
        operation.namespace, try await operation.keys().names.service(of: key)
      )
      return [namespace.meta, namespace.primary, namespace.keys].map {
        EtcdPermission(prefix: $0.path, isWritable: false)
      } + [service.items, service.writes].map { EtcdPermission(prefix: $0.path, isWritable: true) }
    }
  }

  /// Creates the namespace and its keys, unless it exists.
  ///
  /// After `.connectionLost`, the namespace may have been created. Call the method again with the same key. It
  /// returns `false` if the first call created the namespace.
  ///
  /// - Returns: `true` if it was created, or `false` if it existed and this storage has its keys.
  /// - Throws: `.wrongKey` if the namespace was created with another key, `.damaged` if a part of it is missing,
  ///   or an error of the cluster.
  @discardableResult
  public func createNamespace() async throws(SecureStorageError) -> Bool {
    try await fleet.perform(.initialize) { (operation) throws(SecureStorageError) in
      // A source that creates its key must not do so for a namespace that exists.
      if try await operation.hasNamespace() { return false }
      let changes = try await operation.pausing { () async throws(SecureStorageError) in
        try await NamespaceKeys.creation(
          of: operation.namespace, fleet.source.withLock { $0 }, fleet.keyRequest(.creation))
      }
      return try await operation.commitKeys(changes, nil)
    }
  }

  // MARK: - Changing keys

  /// Wraps the keys of the namespace with another key, for example after a machine left the fleet.
  ///
  /// Running processes go on with the keys that they have. A process that starts later needs the new key.
  /// The items aren't encrypted again: someone who has read the keys can still read them. To prevent that,
  /// call ``rotateDataKey()`` afterwards.
  ///
  /// After `.connectionLost`, one of the two keys opens the namespace. Keep both, and call the method again. It
  /// does nothing if the new key already opens the namespace.
  ///
  /// - Parameter key: The source of the new key, which this storage uses from now on.
  /// - Throws: `.wrongKey` if another process has changed the key, or another error if the keys can't be changed.
  public func rewrapKeys(with key: KeySource) async throws(SecureStorageError) {
    try await fleet.perform(.rewrapKeys) { (operation) throws(SecureStorageError) in
      while true {
        let keys = try await operation.readKeys()
        let changes = try await operation.pausing { () async throws(SecureStorageError) in
          try await keys.rewrapping(
            from: fleet.source.withLock { $0 }, to: key, { fleet.keyRequest($0) })
        }
        guard let changes else { break }
        if try await operation.commitKeys(changes, keys) { break }
      }
      fleet.source.withLock { $0 = key }
    }
  }

  /// Encrypts all items with a new data key, and removes the older ones.
  ///
  /// From the beginning on, no process can write with an older key. If the process ends before the work is
  /// done, call this method again. It makes another key, and finishes the work.
  ///
  /// - Returns: The number of items that were encrypted again.
  /// - Throws: `.damaged` if an item can't be decrypted. All others are encrypted with the new key, and the older
  ///   keys are still there. Otherwise, another error if the keys or the items can't be changed.
  @discardableResult
  public func rotateDataKey() async throws(SecureStorageError) -> Int {
    try await fleet.perform(.rotateDataKey) { (operation) throws(SecureStorageError) in
      var keys = try await operation.readKeys()
      var (count, idleRounds, hasNewKey) = (0, 0, false)
      // Another process may do the same at the same time, and finish first.
      while !hasNewKey || !keys.primary.older.isEmpty {
        // The key of a replacement that wasn't finished may be known to a thief.
        if !hasNewKey, keys.primary.older.count < Self.mostOlderKeys {
          let changes = try await operation.pausing { [keys] () async throws(SecureStorageError) in
            try await keys.addingDataKey(fleet.source.withLock { $0 }, fleet.keyRequest(.opening))
          }
          hasNewKey = try await operation.commitKeys(changes, keys)
        } else {
          let (moved, isComplete) = try await operation.moveItems(to: keys)
          count += moved
          idleRounds = moved > 0 ? 0 : idleRounds + 1
          if idleRounds == Operation.mostIdleRounds { throw operation.outpaced }
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

extension Operation {
  /// Returns `true` if the namespace exists and the key opens it.
  fileprivate func hasNamespace() async throws(SecureStorageError) -> Bool {
    let known = fleet.currentKeys
    let answer = try await transact(Transaction(success: NamespaceKeys.requests(namespace)))
    // A process that has used the namespace doesn't take a new one for it.
    if known == nil, answer.reply.ranges.allSatisfy(\.values.isEmpty) { return false }
    _ = try await fleet.takeKeys(answer.reply.ranges, self, after: known)
    return true
  }

  /// Makes changes, and returns `false` if the keys or the values aren't the expected ones any more.
  fileprivate func commitKeys(
    _ changes: [ConditionalChange], _ keys: NamespaceKeys?
  ) async throws(SecureStorageError) -> Bool {
    let outcome = try await commit(changes, service: namespace.administration, keys)
    if case .done = outcome { return true }
    return false
  }

  /// Encrypts the items that are encrypted with an older data key with the one for new items.
  ///
  /// - Parameter target: The keys. If they're replaced, the work isn't complete.
  /// - Returns: The number of items, and `true` unless other changes got in the way.
  /// - Throws: `.damaged` if an item can't be decrypted, after all others were written, or another error if the
  ///   items can't be read or written.
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
          throw fleet.error(.other, "An item can't be encrypted.")
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
