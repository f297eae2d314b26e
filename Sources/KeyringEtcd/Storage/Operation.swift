// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

/// An operation on a namespace, with its deadline.
final class Operation: Sendable {
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

  /// Runs code whose time doesn't count against the deadline.
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
  /// Work in many steps ends only if the cluster stops answering.
  func renew() { deadline.store(.now(plus: fleet.settings.timeout), ordering: .relaxed) }

  // MARK: - Keys

  /// Returns the keys that were read last, or reads them.
  func keys() async throws(SecureStorageError) -> NamespaceKeys {
    if let known = fleet.currentKeys { return known }
    return try await readKeys()
  }

  func readKeys() async throws(SecureStorageError) -> NamespaceKeys {
    let known = fleet.currentKeys
    let answer = try await transact(Transaction(success: NamespaceKeys.requests(namespace)))
    return try await fleet.takeKeys(answer.reply.ranges, self, after: known)
  }

  // MARK: - Reading

  /// Reads values, together with the keys that decrypt them, at one revision.
  ///
  /// - Parameter requests: A closure that returns the requests, of which there are at most
  ///   ``Transaction/rangeLimit``.
  /// - Returns: The keys, the replies, and the revision.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
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
        fleet.noticeRead(of: requested)
        return (keys, answer.reply.ranges, answer.reply.revision)
      }
      keys = try await fleet.takeKeys(answer.reply.ranges, self, after: keys)
    }
  }

  /// Checks that the replies have only what was asked for.
  ///
  /// An item whose range is missing would look like one that doesn't exist. An item in the place of another
  /// one would be taken for it.
  private func check(
    _ replies: some Collection<RangeReply>, answer requests: [RangeRequest]
  ) throws(SecureStorageError) {
    guard replies.count == requests.count else {
      throw fleet.error(for: .malformed("a reply without the expected ranges"))
    }
    for (request, reply) in zip(requests, replies) {
      let range = request.range
      guard reply.values.allSatisfy({ range.contains($0.key) }) else {
        throw fleet.error(
          .damaged, "The cluster returned a different item from the one that was requested.")
      }
      guard !reply.hasMore || !reply.values.isEmpty else {
        throw fleet.error(for: .malformed("a page without values"))
      }
    }
  }

  /// Sends a transaction that changes nothing, so its failure leaves no doubt.
  func transact(
    _ transaction: Transaction
  ) async throws(SecureStorageError) -> EtcdClient.Answer<TransactionReply> {
    do throws(EtcdFailure) {
      return try await send(transaction)
    } catch {
      throw fleet.error(for: error.cause)
    }
  }

  /// Sends a transaction, and records the revision that this process has seen.
  private func send(
    _ transaction: Transaction
  ) async throws(EtcdFailure) -> EtcdClient.Answer<TransactionReply> {
    let answer = try await client.transact(transaction, until: end)
    fleet.see(answer.reply.revision)
    return answer
  }

  /// Decrypts an item.
  func open(_ value: KeyValue, _ keys: NamespaceKeys) throws(SecureStorageError) -> FleetItem {
    do throws(FleetItem.Damage) {
      return try keys.open(value)
    } catch {
      throw fleet.error(.damaged, "The value of \(value.key.path) \(error.rawValue).")
    }
  }

  // MARK: - Writing

  enum Outcome {
    /// The changes were made, in this revision.
    case done(Int64)
    /// Nothing was or will be changed, because these are the values now. The keys decrypt them.
    ///
    /// The values are there only if the change was a single new value.
    case conflict([KeyValue?], NamespaceKeys)
    /// Nothing was or will be changed, because the keys have been replaced by these.
    case otherKeys(NamespaceKeys)
  }

  /// Makes changes, all of them or none, and finds out which.
  ///
  /// The transaction has the condition that there is no record of the write, and creates that record. A
  /// repeated copy finds it. If the changes weren't made although a copy may still be on its way, creating
  /// the record alone makes that copy fail.
  ///
  /// - Parameters:
  ///   - changes: The changes, at most 64.
  ///   - service: The service that the record is kept for.
  ///   - keys: The keys that the new values are encrypted with, or `nil` if the namespace has none yet.
  ///   - id: The identifier of the write.
  /// - Returns: The outcome.
  /// - Throws: `SecureStorageError` if the changes weren't made, or if no node tells whether they were, which
  ///   the message says.
  func commit(
    _ changes: [ConditionalChange], service: Namespace.Service, _ keys: NamespaceKeys?,
    id: [UInt8] = .random(FleetItem.writeIDByteCount)
  ) async throws(SecureStorageError) -> Outcome {
    let write = service.writes + id.hexadecimal
    let knownKeys = keys ?? fleet.currentKeys
    let conditions = keys?.conditions ?? []
    let current = changes.map { change in
      var request = RangeRequest(change.key)
      // Many large values would take more time than a node has for its answer.
      request.keysOnly = changes.count > 1 || change.value == nil
      return request
    }
    let answer: EtcdClient.Answer<TransactionReply>
    // The record that fences a copy must last as long as the lease that the copy names.
    var lease: Int64 = 0
    do throws(EtcdFailure) {
      answer = try await underLease { id in
        lease = id
        return Transaction(
          compare: conditions + [.init(write, revision: 0)] + changes.map(\.comparison),
          success: changes.map(\.step) + [.put(write, Record.done, lease: lease)],
          failure: [.range(RangeRequest(write))] + current.map { .range($0) }
            + NamespaceKeys.requests(namespace))
      }
    } catch {
      if error.hasDoubt { fleet.doubts.withLock { $0[write] = lease } }
      switch error.cause {
      case .refused(let refusal) where refusal.isDatabaseFull:
        // A node whose database has just become full refuses a request that it has processed.
        let question = Transaction(success: [.range(RangeRequest(write))])
        if let record = try await record(question) { return .done(record.revision) }
      case .canceled where error.hasDoubt:
        if let record = try await fenceAfterCancellation(write, lease) {
          return .done(record.revision)
        }
        throw fleet.error(.canceled)
      default: break
      }
      throw failure(error)
    }
    if answer.reply.hasSucceeded { return .done(answer.reply.revision) }
    let replies = answer.reply.ranges
    guard replies.count == changes.count + 4 else {
      if answer.hasDoubt { fleet.doubts.withLock { $0[write] = lease } }
      throw failure(
        EtcdFailure(
          cause: .malformed("a reply without the expected ranges"), hasDoubt: true))
    }
    if let record = Record.done(in: replies[0]) { return .done(record.revision) }
    if answer.hasDoubt, let record = try await fence(write, lease) {
      return .done(record.revision)
    }
    let found = replies[1...changes.count]
    try check(found, answer: current)
    let values = found.map(\.values.first)
    let isSame = zip(changes, values).allSatisfy { $0.revision == $1?.revision ?? 0 }
    // The values may be encrypted with a key that was added since.
    let newKeys = try await fleet.takeKeys(replies[(changes.count + 1)...], self, after: knownKeys)
    return isSame ? .otherKeys(newKeys) : .conflict(values, newKeys)
  }

  /// Sends a transaction with a lease, and again with a new one if etcd doesn't know it any more.
  ///
  /// A copy of a request that names a lease is never processed after the end of that lease.
  private func underLease(
    _ transaction: (Int64) -> Transaction
  ) async throws(EtcdFailure) -> EtcdClient.Answer<TransactionReply> {
    var wasDenied = false
    while true {
      let lease = try await fleet.lease(self)
      do throws(EtcdFailure) {
        return try await send(transaction(lease))
      } catch {
        guard let refusal = error.refusal, [5, 7].contains(refusal.code) else { throw error }
        fleet.forgetLease(lease)
        // etcd also refuses a lease that has records of a service whose role was revoked.
        if error.hasDoubt || refusal.code == 7 && wasDenied { throw error }
        wasDenied = refusal.code == 7
      }
    }
  }

  /// The values of the record of a write.
  private enum Record {
    static let done: [UInt8] = Array("done".utf8)
    static let fenced: [UInt8] = Array("fenced".utf8)

    /// Returns the record of a write that was done.
    static func done(in reply: RangeReply?) -> KeyValue? {
      reply?.values.first.flatMap { $0.value == fenced ? nil : $0 }
    }
  }

  /// Makes sure that no copy of a write takes effect later.
  ///
  /// - Returns: The record of the write if it was done, or `nil` if it never will be.
  /// - Throws: `SecureStorageError` if no node has told.
  private func fence(
    _ write: EtcdKey, _ lease: Int64
  ) async throws(SecureStorageError) -> KeyValue? {
    fleet.doubts.withLock { $0[write] = lease }
    let record = try await record(fencing(write, lease))
    fleet.doubts.withLock { $0[write] = nil }
    return record
  }

  private func fencing(_ write: EtcdKey, _ lease: Int64) -> Transaction {
    Transaction(
      compare: [.init(write, revision: 0)],
      success: [.put(write, Record.fenced, lease: lease)],
      failure: [.range(RangeRequest(write))])
  }

  /// Makes sure that no copy of an earlier write takes effect later if its author was told of the doubt.
  ///
  /// From then on, the author can read whether the write was done.
  ///
  /// - Throws: `SecureStorageError` if no node answers.
  func settleDoubts() async throws(SecureStorageError) {
    if fleet.doubts.withLock(\.isEmpty) { return }
    let turn = await fleet.settling.take(until: end)
    guard turn == .ended else { throw fleet.error(for: turn == .canceled ? .canceled : .timedOut) }
    defer { fleet.settling.giveBack() }
    for (write, lease) in fleet.doubts.withLock({ $0 }) {
      do throws(EtcdFailure) {
        _ = try await send(fencing(write, lease))
      } catch {
        guard let refusal = error.refusal, !refusal.isTransient else {
          throw fleet.error(for: error.cause)
        }
        // A full database and a missing role refuse copies only for a while, in which the user may still read.
        if refusal.code != 5, try await !hasEnded(lease) {
          renew()
          continue
        }
      }
      renew()
      fleet.doubts.withLock { $0[write] = nil }
    }
  }

  /// Returns `true` if a lease has ended, without which no copy of a write takes effect any more.
  private func hasEnded(_ lease: Int64) async throws(SecureStorageError) -> Bool {
    do throws(EtcdFailure) {
      return try await client.hasEnded(lease, until: end)
    } catch {
      guard let refusal = error.refusal, !refusal.isTransient else {
        throw fleet.error(for: error.cause)
      }
      return false
    }
  }

  /// Makes sure that no copy of a write takes effect later, although the task is cancelled.
  private func fenceAfterCancellation(
    _ write: EtcdKey, _ lease: Int64
  ) async throws(SecureStorageError) -> KeyValue? {
    let operation = Operation(fleet, client, namespace, name, for: Self.timeAfterCancellation)
    do throws(SecureStorageError) {
      return try await withoutCancellation {
        await Result { () async throws(SecureStorageError) in
          try await operation.fence(write, lease)
        }
      }.get()
    } catch {
      throw fleet.error(
        .canceled, error.message, recoverySuggestion: error.recoverySuggestion,
        underlying: error.underlying)
    }
  }

  /// The time that a cancelled write has to find out whether it was done.
  private static let timeAfterCancellation = Duration.milliseconds(40)

  /// Returns the record, read by a transaction, of a write whose result is unknown, if it was done.
  private func record(
    _ transaction: Transaction
  ) async throws(SecureStorageError) -> KeyValue? {
    do throws(EtcdFailure) {
      return Record.done(in: try await send(transaction).reply.ranges.first)
    } catch {
      throw failure(EtcdFailure(cause: error.cause, hasDoubt: true))
    }
  }

  private func failure(_ failure: EtcdFailure) -> SecureStorageError {
    var isCanceled: Bool { if case .canceled = failure.cause { true } else { false } }
    guard failure.hasDoubt else { return fleet.error(for: failure.cause) }
    return fleet.error(
      isCanceled ? .canceled : .connectionLost,
      "No node of the cluster reported whether the change was made.",
      recoverySuggestion: name == .rewrapKeys
        ? "Keep both keys, because one of them opens the namespace. Repeat the change when the cluster answers."
        : "Read the item when the cluster answers again, and repeat the change if needed.",
      underlying: fleet.error(for: failure.cause).underlying)
  }
}
#endif
