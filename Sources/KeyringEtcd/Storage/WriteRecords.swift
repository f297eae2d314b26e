// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import Synchronization

/// The lease of the records of this process's writes, and the records of the writes in doubt.
final class WriteRecords: Sendable {
  /// The lease that the records belong to.
  ///
  /// It lives only as long as it was granted. Then, etcd removes the records, and refuses copies of the requests that
  /// name it.
  private struct Lease: Sendable {
    let id: Int64
    /// The moment until which new writes may use it.
    let end: Int64
  }

  private let lease = Mutex<Lease?>(nil)
  private let inDoubt = Mutex<[EtcdKey: Int64]>([:])
  /// The permission to settle the doubts.
  let settling = TaskSemaphore(1)

  // MARK: - Doubts

  /// The records of writes with an unknown fate, with their leases.
  var doubts: [EtcdKey: Int64] { inDoubt.withLock { $0 } }

  var hasDoubts: Bool { !inDoubt.withLock(\.isEmpty) }

  /// Notes that the fate of a write is unknown.
  func doubt(_ write: EtcdKey, _ lease: Int64) { inDoubt.withLock { $0[write] = lease } }

  /// Notes that the fate of a write is known.
  func settle(_ write: EtcdKey) { inDoubt.withLock { $0[write] = nil } }

  // MARK: - Lease

  /// Returns the lease for a write, or asks the cluster for one.
  ///
  /// - Parameters:
  ///   - timeout: The time that a write has.
  ///   - client: The client of the cluster.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The lease.
  /// - Throws: `EtcdFailure` from the cluster.
  func lease(
    for timeout: Duration, from client: EtcdClient, until moment: Int64
  ) async throws(EtcdFailure) -> Int64 {
    if let lease = lease.withLock({ $0 }), ThreadExecutor.now < lease.end { return lease.id }
    let time = min(max(60, Int(timeout.microseconds / 1_000_000) + 1), Self.longestWrite)
    let start = ThreadExecutor.now
    let granted: (id: Int64, seconds: Int64)
    do throws(EtcdFailure) {
      granted = try await client.grantLease(seconds: 3 * time, until: moment)
    } catch {
      // Without a lease, nothing was written.
      throw EtcdFailure(cause: error.cause, hasDoubt: false)
    }
    // A write that begins before the end has at least a third of the lease left.
    let usable = Duration.seconds(granted.seconds) - .seconds(2 * time)
    let lease = Lease(id: granted.id, end: start + usable.microseconds)
    self.lease.withLock { $0 = lease }
    return lease.id
  }

  /// The longest time that a lease is made for, in seconds.
  private static let longestWrite = 24 * 60 * 60

  /// Forgets a lease that etcd has forgotten.
  func forgetLease(_ id: Int64) {
    lease.withLock { if $0?.id == id { $0 = nil } }
  }

  /// Forgets the lease, because the cluster has another history.
  func forgetHistory() { lease.withLock { $0 = nil } }
}
#endif
