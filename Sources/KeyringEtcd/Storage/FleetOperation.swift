// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// An operation on a namespace, with its deadline.
final class FleetOperation: Sendable {
  let fleet: Fleet
  let client: EtcdClient
  let namespace: Namespace
  /// The operation that its errors name.
  let name: SecureStorageError.Operation
  private let deadline: Atomic<Int64>

  /// Begins an operation.
  ///
  /// - Parameters:
  ///   - fleet: The state of the storage.
  ///   - client: The client of the cluster.
  ///   - namespace: The namespace.
  ///   - name: The operation that its errors name.
  ///   - time: The time that the cluster has, or `nil` for the storage's timeout.
  init(
    _ fleet: Fleet, _ client: EtcdClient, _ namespace: Namespace,
    _ name: SecureStorageError.Operation, for time: Duration? = nil
  ) {
    (self.fleet, self.client) = (fleet, client)
    (self.namespace, self.name) = (namespace, name)
    deadline = Atomic(.now(plus: time ?? fleet.settings.timeout))
  }

  /// The moment at which the operation gives up, in microseconds of the monotonic clock.
  var end: Int64 { deadline.load(ordering: .relaxed) }

  /// Runs code, and moves the deadline by its time.
  ///
  /// The user may have to answer a question, perhaps that of another operation.
  func pausing<Result>(
    _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let start = ThreadExecutor.now
    defer { deadline.add(ThreadExecutor.now - start, ordering: .relaxed) }
    return try await body()
  }

  /// Starts the deadline again with its full length.
  ///
  /// Work in many steps goes on as long as the cluster answers.
  func renew() { deadline.store(.now(plus: fleet.settings.timeout), ordering: .relaxed) }

  // MARK: - Keys

  /// Returns the keys that were read last, or reads them.
  func keys() async throws(SecureStorageError) -> NamespaceKeys {
    if let known = fleet.keys.current { return known }
    return try await readKeys()
  }

  func readKeys() async throws(SecureStorageError) -> NamespaceKeys {
    let known = fleet.keys.current
    let answer = try await transact(Transaction(success: NamespaceKeys.requests(namespace)))
    return try await takeKeys(answer.reply.ranges, after: known)
  }

  /// Takes over keys from etcd.
  ///
  /// An observation and a diagnosis leave the user alone.
  ///
  /// - Parameters:
  ///   - replies: The replies to ``NamespaceKeys/requests(_:)``.
  ///   - sent: The keys that were known when the requests were sent.
  /// - Returns: The keys of the replies, or newer ones.
  /// - Throws: `SecureStorageError` for keys that the source doesn't open, or for damaged ones.
  func takeKeys(
    _ replies: some Sequence<RangeReply>, after sent: NamespaceKeys?
  ) async throws(SecureStorageError) -> NamespaceKeys {
    try await pausing { () async throws(SecureStorageError) in
      try await fleet.keys.take(
        replies, of: namespace, after: sent,
        [.observe, .diagnose].contains(name) ? .inspection : .opening)
    }
  }

  // MARK: - Reading

  /// Reads values, together with the keys that decrypt them, at one revision.
  ///
  /// - Parameter requests: A closure that returns the requests, of which there are at most
  ///   ``Transaction/rangeLimit``.
  /// - Returns: The keys, the replies, and the revision.
  /// - Throws: `SecureStorageError` from the cluster.
  func read(
    _ requests: (NamespaceKeys) -> [RangeRequest]
  ) async throws(SecureStorageError) -> (
    keys: NamespaceKeys, replies: [RangeReply], revision: Int64
  ) {
    var keys = try await keys()
    while true {
      let requested = requests(keys)
      let answer = try await transact(
        Transaction(
          compare: keys.conditions, success: requested.map { .range($0) },
          failure: NamespaceKeys.requests(namespace)))
      if answer.reply.hasSucceeded {
        try check(answer.reply.ranges, answer: requested)
        // Without a user, there are no roles.
        if fleet.settings.user != nil { fleet.watches.noticeRead(of: requested) }
        return (keys, answer.reply.ranges, answer.reply.revision)
      }
      keys = try await takeKeys(answer.reply.ranges, after: keys)
    }
  }

  /// Checks that the replies have only what was asked for.
  ///
  /// An item whose range is missing would look like one that doesn't exist. An item in the place of another
  /// one would be taken for it.
  func check(
    _ replies: some Collection<RangeReply>, answer requests: [RangeRequest]
  ) throws(SecureStorageError) {
    guard replies.count == requests.count else {
      throw fleet.settings.error(for: .malformed("a reply without the expected ranges"))
    }
    for (request, reply) in zip(requests, replies) {
      let range = request.range
      guard reply.values.allSatisfy({ range.contains($0.key) }) else {
        throw fleet.settings.error(
          .damaged, "The cluster returned a different item from the one that was requested.")
      }
      guard !reply.hasMore || !reply.values.isEmpty else {
        throw fleet.settings.error(for: .malformed("a page without values"))
      }
    }
  }

  /// Sends a transaction that only reads, so that its failure leaves everything as it is.
  func transact(
    _ transaction: Transaction
  ) async throws(SecureStorageError) -> EtcdClient.Answer<TransactionReply> {
    do throws(EtcdFailure) {
      return try await send(transaction)
    } catch {
      throw fleet.settings.error(for: error.cause)
    }
  }

  /// Sends a transaction, and records the revision that this process has seen.
  func send(
    _ transaction: Transaction
  ) async throws(EtcdFailure) -> EtcdClient.Answer<TransactionReply> {
    let answer = try await client.transact(transaction, until: end)
    fleet.items.see(answer.reply.revision)
    return answer
  }

  /// Decrypts an item.
  func open(_ value: KeyValue, _ keys: NamespaceKeys) throws(SecureStorageError) -> FleetItem {
    do throws(FleetItem.Damage) {
      return try keys.open(value)
    } catch {
      throw fleet.settings.error(.damaged, "The value of \(value.key.path) \(error.rawValue).")
    }
  }
}
#endif
