// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import Synchronization

/// The lease of the turns that this process has or waits for.
///
/// If the process dies, is stopped or is cut off, etcd ends the lease after its time, and removes the turns.
final class TurnLease: Sendable {
  private struct State: Sendable {
    /// The turns that need the lease, with what to call when it's lost.
    var turns: [EtcdKey: [@Sendable () -> Void]] = [:]
    /// The moment from which the lease lasts for its length at least, in microseconds of the monotonic clock.
    var renewal: Int64
    /// `true` for a lease that is for no further turns.
    var isClosed = false
    var isLost = false
    /// The task that keeps the lease alive while there are turns.
    var task: Task<Void, Never>?
  }

  let id: Int64
  /// The length in microseconds.
  private let length: Int64
  private let client: EtcdClient
  private let state: Mutex<State>

  /// The time after which etcd ends the turns of a process that is gone.
  static let seconds = 10

  /// Creates a lease that the cluster has granted.
  ///
  /// - Parameters:
  ///   - id: The identifier of the lease.
  ///   - seconds: The length of the lease.
  ///   - moment: The moment at which it was asked for, in microseconds of the monotonic clock.
  ///   - client: The client of the cluster.
  init(_ id: Int64, seconds: Int64, from moment: Int64, _ client: EtcdClient) {
    (self.id, self.client) = (id, client)
    length = Duration.seconds(seconds).microseconds
    state = Mutex(State(renewal: moment))
  }

  var isLost: Bool { state.withLock(\.isLost) }

  // MARK: - Turns

  /// Keeps the lease alive for a turn, or returns `false` for a lease that is over or may soon be.
  func join(_ turn: EtcdKey) -> Bool {
    state.withLock { state in
      let isYoung = ThreadExecutor.now < state.renewal + 2 * length / 3
      guard !state.isClosed, !state.isLost, state.task != nil || isYoung else { return false }
      state.turns[turn] = []
      // The code of a turn can't block this thread, and neither can observers.
      if state.task == nil {
        state.task = Task.detached(executorPreference: EventLoopExecutor.requests) {
          await self.keepAlive()
        }
      }
      return true
    }
  }

  /// Calls a closure when the lease of a turn is lost, or at once if it is.
  func whenLost(_ turn: EtcdKey, _ handler: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      if !state.isLost { state.turns[turn]?.append(handler) }
      return state.isLost
    }
    if isLost { handler() }
  }

  /// Ends the need of a turn whose key is gone from the cluster.
  ///
  /// Without turns, the lease ends by itself, unless a turn of the next seconds uses it.
  func leave(_ turn: EtcdKey) {
    let (task, mustRevoke) = state.withLock { state in
      state.turns[turn] = nil
      guard state.turns.isEmpty else { return (nil as Task<Void, Never>?, false) }
      return (exchange(&state.task, with: nil), state.isClosed && !state.isLost)
    }
    task?.cancel()
    guard mustRevoke else { return }
    Task.detached(executorPreference: EventLoopExecutor.requests) { [client, id] in
      try? await client.revoke(id, until: .now(plus: .seconds(Int64(Self.seconds))))
    }
  }

  /// Lets the lease end with its turns.
  ///
  /// From then on, etcd refuses copies of requests that name the lease.
  func close() { state.withLock { $0.isClosed = true } }

  /// Notes that the turns have ended, and tells those who have them.
  func lose() {
    let handlers = state.withLock { state in
      state.isLost = true
      return exchange(&state.turns, with: [:]).values.joined()
    }
    KeyringEvent.report(.leaseLost)
    for handler in handlers { handler() }
  }

  // MARK: - Keeping alive

  private func keepAlive() async {
    while true {
      let renewal = state.withLock(\.renewal)
      switch await Waiter.wait(until: renewal + length / 3, { _ in }) {
      case .canceled: return
      case .ended, .timedOut: break
      case .failed: return lose()
      }
      let end = renewal + length
      let start = ThreadExecutor.now
      do throws(EtcdFailure) {
        // A process that was stopped for longer asks once, because a new leader starts a lease again.
        let seconds = try await client.keepAlive(id, until: max(end, start + EtcdNodes.patience))
        if seconds == nil { return lose() }
        state.withLock { $0.renewal = start }
      } catch {
        if Task.isCancelled { return }
        if ThreadExecutor.now >= end { return lose() }
        _ = await Waiter.wait(until: min(end, ThreadExecutor.now + Self.pause)) { _ in }
      }
    }
  }

  /// The time after a refusal to keep the lease alive, in microseconds.
  private static let pause: Int64 = 500_000
}
#endif
