// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
public import KeyringStorage
internal import Synchronization

/// A turn to change an item of the fleet.
///
/// A transaction stores the item and ends the turn, so that the next one can begin even if the process ends right
/// after that.
private final class FleetTurn: ItemTurn {
  private struct State: Sendable {
    /// The item as it was read last.
    var found: FleetItem?
    /// `true` for an item that the caller hasn't got yet.
    var isFresh = true
    /// `true` after the transaction that has stored the item and ended the turn.
    var isStored = false
    /// The record of a write that may have been done.
    var inDoubt: EtcdKey?
  }

  private let storage: EtcdStorage
  private let key: ItemKey
  private let details: ItemQuery.Details
  private let turn: QueuedTurn
  private let client: EtcdClient
  private let state: Mutex<State>

  init(
    _ storage: EtcdStorage, _ key: ItemKey, _ details: ItemQuery.Details, _ turn: QueuedTurn,
    _ item: FleetItem?, _ client: EtcdClient
  ) {
    (self.storage, self.key, self.details) = (storage, key, details)
    (self.turn, self.client) = (turn, client)
    state = Mutex(State(found: item))
  }

  private var fleet: Fleet { storage.fleet }

  // MARK: - Reading

  func item() async throws(SecureStorageError) -> SecureItem? {
    if turn.lease.isLost { throw lost(.read) }
    let fresh: FleetItem?? = state.withLock { state in
      exchange(&state.isFresh, with: false) ? .some(state.found) : .none
    }
    if let fresh { return fresh?.item(details) }
    return try await FleetOperation.perform(.read, on: fleet) {
      (operation) throws(SecureStorageError) in
      let found = try await read(operation)
      state.withLock { $0.found = found }
      return found?.item(details)
    }
  }

  private func read(
    _ operation: FleetOperation
  ) async throws(SecureStorageError) -> FleetItem? {
    let look = try await operation.look(at: turn, key)
    guard look.isThere, !turn.lease.isLost else { throw lost(operation.name) }
    return look.item
  }

  // MARK: - Storing

  func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    if let item { try storage.validateForFleet(item) }
    return try await FleetOperation.perform(item == nil ? .remove : .save, on: fleet) {
      (operation) throws(SecureStorageError) in
      if try await wasDone(operation) { return true }
      if turn.lease.isLost { throw lost(operation.name) }
      var found = state.withLock(\.found)
      if !(found?.item(details)).hasSameContent(as: old) {
        found = try await read(operation)
        guard (found?.item(details)).hasSameContent(as: old) else { return refuse(found) }
      }
      while true {
        guard item != nil || found != nil else { return true }
        if try await store(item, over: found, operation) { return true }
        let current = try await read(operation)
        // The item may only have been encrypted again, or have got another label.
        guard isSame(found, current) else { return refuse(current) }
        found = current
      }
    }
  }

  /// Notes what was stored meanwhile, which is what the caller reads next.
  private func refuse(_ found: FleetItem?) -> Bool {
    state.withLock { ($0.found, $0.isFresh) = (found, true) }
    return false
  }

  private func isSame(_ one: FleetItem?, _ other: FleetItem?) -> Bool {
    let all = details.union(.secret)
    return (one?.item(all)).hasSameContent(as: other?.item(all))
  }

  /// Stores or removes the item and ends the turn, in one transaction, or returns `false` for another item or keys.
  private func store(
    _ item: SecureItem?, over found: FleetItem?, _ operation: FleetOperation
  ) async throws(SecureStorageError) -> Bool {
    let keys = try await operation.keys()
    let id = [UInt8].random(FleetItem.writeIDByteCount)
    let place = keys.names.item(key)
    let service = keys.names.service(of: key)
    let record = item.map { ItemRecord(saving: $0, over: found?.record) }
    var value: [UInt8]?
    if let item, let record {
      let secret =
        if let secret = item.secret ?? found?.secret { secret } else {
          try storage.requireSecret(item)
        }
      value = try? keys.seal(FleetItem(record, secret, writeID: id), place)
      if value == nil { throw fleet.settings.error(.other, "The item can't be encrypted.") }
    }
    state.withLock { $0.inDoubt = service.record(of: id) }
    let outcome = try await operation.commit(
      [ConditionalChange(key: place, revision: found?.revision ?? 0, value: value), turn.removal],
      service: service, keys, id: id)
    state.withLock { $0.inDoubt = nil }
    switch outcome {
    case .done(let revision):
      if let record { fleet.items[key] = .init(record: record, revision: revision) }
      state.withLock { $0.isStored = true }
      return true
    case .conflict(let values, _) where !turn.removal.isPossible(with: values[1]):
      throw lost(operation.name)
    case .conflict, .otherKeys: return false
    }
  }

  /// Returns `true` for a write that an earlier call has made without knowing it.
  private func wasDone(_ operation: FleetOperation) async throws(SecureStorageError) -> Bool {
    guard let write = state.withLock(\.inDoubt) else { return false }
    let isDone = try await operation.record(of: write) != nil
    state.withLock { ($0.inDoubt, $0.isStored) = (nil, isDone) }
    return isDone
  }

  // MARK: - The end

  func whenLost(_ handler: @escaping @Sendable () -> Void) {
    // The lease may end after the turn.
    turn.lease.whenLost(turn.key) { [weak self] in if self != nil { handler() } }
  }

  private func lost(_ operation: SecureStorageError.Operation) -> SecureStorageError {
    storage.error(
      .turnLost, during: operation,
      message: """
        The lease of the turn has ended: this program was stopped, or cut off from the cluster, for about \
        \(TurnLease.seconds) seconds.
        """)
  }

  func end() async {
    fleet.turns.callers.leave(key)
    if state.withLock(\.isStored) { return turn.lease.leave(turn.key) }
    await fleet.turns.end(turn, client)
  }
}

extension EtcdStorage {
  /// Waits for a turn among the tasks, processes and machines of the fleet.
  ///
  /// A turn lasts as long as the process lives and reaches the cluster. If it dies, is stopped or is cut off, its turn
  /// ends after about ten seconds. Then the next one goes on, and what the late one stores is refused.
  ///
  /// - Parameters:
  ///   - key: The key of the item, which doesn't need to exist.
  ///   - details: The details that the turn returns.
  ///   - timeout: The longest time to wait for others, or `nil` for half of the storage's timeout.
  /// - Returns: The turn, which also ends when an item is stored or removed.
  /// - Throws: `.timedOut`, which names the program, process and machine whose turn it is; `.accessDenied` for a role
  ///   that lacks the turns of the service, see ``permissions(for:)``; or another error of the cluster.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    let moment = Int64.now(plus: timeout ?? fleet.settings.timeout / 2)
    try await join(fleet.turns.callers, key, until: moment)
    do throws(SecureStorageError) {
      return try await fleet.items.whileReading([key]) { () async throws(SecureStorageError) in
        try await FleetOperation.perform(.takeTurn, on: fleet) {
          (operation) throws(SecureStorageError) in
          let (turn, item) = try await operation.turn(for: key, until: moment)
          return FleetTurn(self, key, details, turn, item, operation.client)
        }
      }
    } catch {
      fleet.turns.callers.leave(key)
      throw error
    }
  }
}
#endif
