// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

extension EtcdNamespace {
  /// Creates the namespace, or returns `false` if it exists.
  func initialize() async throws(SecureStorageError) -> Bool {
    try await perform(.initialize) { (session) throws(SecureStorageError) in
      let operations = try await NamespaceKeys.creation(
        of: session.namespace, source.withLock { $0 }, keyRequest(.creation))
      let answer: EtcdClient.Answer<TransactionReply>
      do throws(EtcdClient.Failure) {
        answer = try await session.client.transact(
          Transaction(
            compare: operations.compactMap(\.key).map { .init(key: $0, revision: 0) },
            success: operations, failure: NamespaceKeys.requests(session.namespace)),
          until: session.end)
      } catch {
        throw session.failure(error)
      }
      if answer.reply.hasSucceeded { return true }
      let values = answer.reply.ranges.flatMap(\.values)
      // An earlier copy of this request may have been processed.
      let isOwn = operations.allSatisfy { operation in
        guard case .put(let key, let value, _) = operation else { return false }
        return values.contains { $0.key == key && $0.value == value }
      }
      _ = try await session.takeKeys(answer.reply.ranges[...], after: currentKeys)
      return isOwn
    }
  }

  func permissions(for key: ItemKey) async throws(SecureStorageError) -> [EtcdPermission] {
    try await perform(.read) { (session) throws(SecureStorageError) in
      let (namespace, service) = (session.namespace, try await session.keys().service(of: key))
      return [namespace.meta, namespace.primary, namespace.keys].map {
        EtcdPermission(prefix: $0.path, isWritable: false)
      } + [service.items, service.writes].map { EtcdPermission(prefix: $0.path, isWritable: true) }
    }
  }

  // MARK: - Changing keys

  /// Wraps all keys with the key of another source.
  func rewrapKeys(with newSource: KeySource) async throws(SecureStorageError) {
    try await perform(.rewrapKeys) { (session) throws(SecureStorageError) in
      while true {
        let keys = try await session.readKeys()
        let changes = try await keys.rewrapping(with: newSource, keyRequest(.creation))
        if try await session.commitKeys(changes, keys) { break }
      }
      source.withLock { $0 = newSource }
      _ = try await session.readKeys()
    }
  }

  /// Encrypts all items with a new data key, or finishes doing so.
  func rotateDataKey() async throws(SecureStorageError) -> Int {
    try await perform(.rotateDataKey) { (session) throws(SecureStorageError) in
      var keys = try await session.readKeys()
      while keys.primary.older.isEmpty {
        let source = source.withLock { $0 }
        let changes = try await keys.addingDataKey(source, keyRequest(.opening))
        _ = try await session.commitKeys(changes, keys)
        keys = try await session.readKeys()
      }
      var count = 0
      // Another process may do the same at the same time, and finish first.
      while !keys.primary.older.isEmpty {
        let (moved, isComplete) = try await session.moveItems(to: keys)
        count += moved
        let session = session.renewed
        if isComplete { _ = try await session.commitKeys(keys.removingOlderDataKeys, keys) }
        keys = try await session.readKeys()
      }
      return count
    }
  }
}

extension Session {
  /// Makes changes, and returns `false` if the keys or the values aren't the expected ones any more.
  fileprivate func commitKeys(
    _ changes: [ConditionalChange], _ keys: NamespaceKeys
  ) async throws(SecureStorageError) -> Bool {
    let outcome = try await commit(
      changes, service: namespace.administration, keys,
      id: .random(FleetItem.writeIDByteCount))
    if case .done = outcome { return true }
    return false
  }

  /// Encrypts the items that are encrypted with an older data key with the one for new items.
  ///
  /// - Parameter target: The keys. If they're replaced, the work isn't complete.
  /// - Returns: The number of items, and `true` unless other changes got in the way.
  /// - Throws: `SecureStorageError` if an item can't be read or written.
  fileprivate func moveItems(
    to target: NamespaceKeys
  ) async throws(SecureStorageError) -> (count: Int, isComplete: Bool) {
    var (count, isComplete) = (0, true)
    var next: EtcdKey?
    repeat {
      let session = renewed
      let (keys, replies, _) = try await session.read { _ in
        var page = RangeRequest(prefix: namespace.items)
        if let next { page.key = next }
        page.limit = Self.batchLimit
        return [page]
      }
      guard let page = replies.first, keys.conditions == target.conditions else {
        return (count, false)
      }
      var batch: [ConditionalChange] = []
      var size = 0
      func commitBatch() async throws(SecureStorageError) {
        if batch.isEmpty { return }
        if try await session.commitKeys(batch, keys) {
          count += batch.count
        } else {
          isComplete = false
        }
        (batch, size) = ([], 0)
      }
      for value in page.values where !keys.isCurrent(value) {
        let item = try open(value, keys)
        guard let sealed = try? keys.seal(item.moved, value.key) else {
          throw fleet.error(.other, "An item can't be encrypted.")
        }
        if size + sealed.count > Self.batchByteLimit { try await commitBatch() }
        batch.append(ConditionalChange(key: value.key, revision: value.revision, value: sealed))
        size += sealed.count
      }
      try await commitBatch()
      next = page.hasMore ? page.values.last?.key.next : nil
    } while next != nil
    return (count, isComplete)
  }

  /// The most items of a transaction.
  private static var batchLimit: Int { 64 }
  /// The most bytes of the items of a transaction; etcd refuses requests of more than 1.5 MiB.
  private static var batchByteLimit: Int { 1 << 20 }
}

extension Transaction.Operation {
  fileprivate var key: EtcdKey? {
    if case .put(let key, _, _) = self { key } else { nil }
  }
}
#endif
