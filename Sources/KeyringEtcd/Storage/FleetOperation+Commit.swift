// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage

extension FleetOperation {
  enum Outcome {
    /// The changes were made, in this revision.
    case done(Int64)
    /// Nothing was or will be changed, because these are the values now. The keys decrypt them.
    ///
    /// Only the change to a single new value has the values themselves.
    case conflict([KeyValue?], NamespaceKeys)
    /// Nothing was or will be changed, because the keys have been replaced by these.
    case otherKeys(NamespaceKeys)
  }

  /// Makes changes, all of them or none, and finds out which.
  ///
  /// The transaction creates a record of the write, on the condition that it's new: a repeated copy finds the
  /// record, and fails. To fence off a copy that may still be on its way, the record is created alone.
  ///
  /// - Parameters:
  ///   - changes: The changes, at most 64.
  ///   - service: The service that the record is kept for.
  ///   - keys: The keys that the new values are encrypted with, or `nil` if the namespace has none yet.
  ///   - id: The identifier of the write.
  /// - Returns: The outcome.
  /// - Throws: `SecureStorageError` for a refused change, or for one whose fate is unknown, as the message says.
  func commit(
    _ changes: [ConditionalChange], service: Namespace.Service, _ keys: NamespaceKeys?,
    id: [UInt8] = .random(FleetItem.writeIDByteCount)
  ) async throws(SecureStorageError) -> Outcome {
    let write = service.record(of: id)
    let knownKeys = keys ?? fleet.keys.current
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
      if error.hasDoubt { fleet.writes.doubt(write, lease) }
      switch error.cause {
      case .refused(let refusal) where refusal.isDatabaseFull:
        // A node whose database has just become full refuses a request that it has processed.
        if let record = try await record(of: write) { return .done(record.revision) }
      case .canceled where error.hasDoubt:
        if let record = try await fenceAfterCancellation(write, lease) {
          return .done(record.revision)
        }
        throw fleet.settings.error(.canceled)
      default: break
      }
      throw failure(error)
    }
    if answer.reply.hasSucceeded { return .done(answer.reply.revision) }
    let replies = answer.reply.ranges
    guard replies.count == changes.count + 4 else {
      if answer.hasDoubt { fleet.writes.doubt(write, lease) }
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
    let isSame = zip(changes, values).allSatisfy { $0.isPossible(with: $1) }
    // The values may be encrypted with a key that was added since.
    let newKeys = try await takeKeys(replies[(changes.count + 1)...], after: knownKeys)
    return isSame ? .otherKeys(newKeys) : .conflict(values, newKeys)
  }

  /// Sends a transaction with a lease, and again with a new one after the end of that lease.
  ///
  /// etcd refuses all later copies of a request that names an ended lease.
  private func underLease(
    _ transaction: (Int64) -> Transaction
  ) async throws(EtcdFailure) -> EtcdClient.Answer<TransactionReply> {
    var wasDenied = false
    while true {
      let lease = try await fleet.writes.lease(
        for: fleet.settings.timeout, from: client, until: end)
      do throws(EtcdFailure) {
        return try await send(transaction(lease))
      } catch {
        guard let refusal = error.refusal, [5, 7].contains(refusal.code) else { throw error }
        fleet.writes.forgetLease(lease)
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

  /// Stops all copies of a write that are still on their way.
  ///
  /// - Returns: The record of a write that was done, or `nil`.
  /// - Throws: `SecureStorageError` while its fate is unknown.
  private func fence(
    _ write: EtcdKey, _ lease: Int64
  ) async throws(SecureStorageError) -> KeyValue? {
    fleet.writes.doubt(write, lease)
    let record = try await record(fencing(write, lease))
    fleet.writes.settle(write)
    return record
  }

  private func fencing(_ write: EtcdKey, _ lease: Int64) -> Transaction {
    Transaction(
      compare: [.init(write, revision: 0)],
      success: [.put(write, Record.fenced, lease: lease)],
      failure: [.range(RangeRequest(write))])
  }

  /// Stops all copies of the earlier writes whose authors were told of the doubt.
  ///
  /// From then on, an author can read the result.
  ///
  /// - Throws: `SecureStorageError` for a cluster that is silent.
  func settleDoubts() async throws(SecureStorageError) {
    if !fleet.writes.hasDoubts { return }
    let turn = await fleet.writes.settling.take(until: end)
    guard turn == .ended else {
      throw fleet.settings.error(for: turn == .canceled ? .canceled : .timedOut)
    }
    defer { fleet.writes.settling.giveBack() }
    for (write, lease) in fleet.writes.doubts {
      do throws(EtcdFailure) {
        _ = try await send(fencing(write, lease))
      } catch {
        guard let refusal = error.refusal, !refusal.isTransient else {
          throw fleet.settings.error(for: error.cause)
        }
        // A full database and a missing role refuse copies only for a while, in which the user may still read.
        if refusal.code != 5, try await !hasEnded(lease) {
          renew()
          continue
        }
      }
      renew()
      fleet.writes.settle(write)
    }
  }

  /// Returns `true` for an ended lease, which also ends all copies of a write.
  private func hasEnded(_ lease: Int64) async throws(SecureStorageError) -> Bool {
    do throws(EtcdFailure) {
      return try await client.hasEnded(lease, until: end)
    } catch {
      guard let refusal = error.refusal, !refusal.isTransient else {
        throw fleet.settings.error(for: error.cause)
      }
      return false
    }
  }

  /// Stops all copies of a write of a cancelled task.
  private func fenceAfterCancellation(
    _ write: EtcdKey, _ lease: Int64
  ) async throws(SecureStorageError) -> KeyValue? {
    let operation = FleetOperation(fleet, client, namespace, name, for: Self.timeAfterCancellation)
    do throws(SecureStorageError) {
      return try await withoutCancellation {
        await Result { () async throws(SecureStorageError) in
          try await operation.fence(write, lease)
        }
      }.get()
    } catch {
      throw fleet.settings.error(
        .canceled, error.message, recoverySuggestion: error.recoverySuggestion,
        underlying: error.underlying)
    }
  }

  /// The time that a cancelled write has to find out its fate.
  private static let timeAfterCancellation = Duration.milliseconds(40)

  /// Returns the record of a write that was done, or `nil` for one that wasn't, or that is in doubt.
  func record(of write: EtcdKey) async throws(SecureStorageError) -> KeyValue? {
    try await record(Transaction(success: [.range(RangeRequest(write))]))
  }

  /// Reads the record of a write in doubt by a transaction, or returns `nil` for one that wasn't done.
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
    guard failure.hasDoubt else { return fleet.settings.error(for: failure.cause) }
    return fleet.settings.error(
      isCanceled ? .canceled : .connectionLost,
      "No node of the cluster reported whether the change was made.",
      recoverySuggestion: name == .rewrapKeys
        ? "Keep both keys, because one of them opens the namespace. Repeat the change when the cluster answers."
        : "Read the item when the cluster answers again, and repeat the change if needed.",
      underlying: fleet.settings.error(for: failure.cause).underlying)
  }
}
#endif
