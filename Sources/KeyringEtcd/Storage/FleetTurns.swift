// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The turns of this process to change items, and the lease that they have in common.
final class FleetTurns: Sendable {
  /// The callers of this process, of which one at a time has a key in the cluster's queue for an item.
  let callers = KeyQueue()
  private let current = Mutex<TurnLease?>(nil)
  /// The permission to ask for a lease.
  private let granting = TaskSemaphore(1)
  /// The keys that are being removed, by the prefix of their queue.
  private let leftovers = Mutex<[EtcdKey: Set<EtcdKey>]>([:])

  /// Returns the lease for a new turn, or asks the cluster for one.
  ///
  /// - Parameters:
  ///   - turn: The key of the turn.
  ///   - client: The client of the cluster.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The lease, which is kept alive until the turn leaves it.
  /// - Throws: `EtcdFailure` from the cluster.
  func lease(
    for turn: EtcdKey, from client: EtcdClient, until moment: Int64
  ) async throws(EtcdFailure) -> TurnLease {
    if let lease = joined(turn) { return lease }
    let wait = await granting.take(until: moment)
    guard wait == .ended else {
      throw EtcdFailure(cause: wait == .canceled ? .canceled : .timedOut)
    }
    defer { granting.giveBack() }
    if let lease = joined(turn) { return lease }
    let start = ThreadExecutor.now
    let granted = try await client.grantLease(seconds: TurnLease.seconds, until: moment)
    let lease = TurnLease(granted.id, seconds: granted.seconds, from: start, client)
    guard lease.join(turn) else { throw EtcdFailure(cause: .timedOut) }
    current.withLock { $0 = lease }
    return lease
  }

  private func joined(_ turn: EtcdKey) -> TurnLease? {
    current.withLock { $0.flatMap { $0.join(turn) ? $0 : nil } }
  }

  /// Forgets the lease, because the cluster has another history.
  func forgetHistory() { current.withLock { exchange(&$0, with: nil) }?.lose() }

  // MARK: - Ends

  /// The keys of turns that have ended in a queue, whose removal the cluster hasn't confirmed.
  func leftovers(in queue: EtcdKey) -> Set<EtcdKey> { leftovers.withLock { $0[queue] ?? [] } }

  /// Removes the key of a turn that has ended, and waits a moment for the cluster's answer.
  ///
  /// If the process ended before, the others would wait for the end of the lease.
  func end(_ turn: QueuedTurn, _ client: EtcdClient) async {
    let removal = remove(turn, from: client)
    await withoutCancellation { _ = await removal.wait(until: .now(plus: .seconds(1))) }
  }

  /// Removes the key of a turn that has ended, and lets it leave its lease afterwards.
  ///
  /// - Parameters:
  ///   - turn: The turn.
  ///   - client: The client of the cluster.
  /// - Returns: The end of the removal.
  @discardableResult
  func remove(_ turn: QueuedTurn, from client: EtcdClient) -> SharedOutcome<Void> {
    let end = SharedOutcome<Void>()
    leftovers.withLock { _ = $0[turn.queue, default: []].insert(turn.key) }
    Task.detached(executorPreference: EventLoopExecutor.requests) { [self] in
      repeat {
        do throws(EtcdFailure) {
          _ = try await client.transact(
            Transaction(success: [.delete(turn.key)]), until: .now(plus: .seconds(10)))
          break
        } catch {
          // Without the role, only the end of the lease removes the key.
          if let refusal = error.refusal, !refusal.isTransient {
            turn.lease.close()
            break
          }
        }
      } while !turn.lease.isLost
      leftovers.withLock { leftovers in
        leftovers[turn.queue]?.remove(turn.key)
        if leftovers[turn.queue]?.isEmpty == true { leftovers[turn.queue] = nil }
      }
      turn.lease.leave(turn.key)
      end.settle(())
    }
    return end
  }
}

/// A key in the queue of those who want to change an item, of which the first one has its turn.
struct QueuedTurn: Sendable {
  let key: EtcdKey
  /// The prefix of the queue.
  let queue: EtcdKey
  let lease: TurnLease
  /// The revision in which the key was created, which orders the queue.
  var creation: Int64 = 0

  /// The end of the turn, as a part of a transaction that needs it.
  var removal: ConditionalChange {
    ConditionalChange(key: key, revision: creation, value: nil, comparesCreation: true)
  }
}
#endif
