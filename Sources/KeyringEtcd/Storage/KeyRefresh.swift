// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// Reads of the keys for events whose items can't be decrypted.
///
/// The source of the keys may take long to answer. The events of other items don't wait for it.
final class KeyRefresh: Sendable {
  private struct State: Sendable {
    /// The current read, and the moment until which events wait for it, in microseconds of the monotonic
    /// clock.
    var current: (outcome: SharedOutcome<Void>, end: Int64)?
    /// The moment until which no read begins, in microseconds of the monotonic clock.
    var next: Int64 = 0
  }

  private let state = Mutex(State())

  /// The time for which events wait for the source of the keys, unless it blocks its thread.
  private static let patience = Duration.seconds(2)

  /// The time after a read that didn't help in which no other one begins.
  private static let pause = Duration.seconds(5)

  /// Reads the keys from the cluster, and waits for them for a moment.
  ///
  /// Events that need the keys at the same time share a read.
  func perform(_ fleet: Fleet) async {
    let (read, isNew) = state.withLock { state in
      if let current = state.current { return (Optional(current), false) }
      guard state.next <= ThreadExecutor.now else { return (nil, false) }
      let read = (outcome: SharedOutcome<Void>(), end: Int64.now(plus: Self.patience))
      state.current = read
      return (read, true)
    }
    guard let read else { return }
    if isNew {
      Task(executorPreference: HTTPTransport.streamingThread) {
        _ = try? await fleet.perform(.observe) { (operation) throws(SecureStorageError) in
          try await operation.readKeys()
        }
        self.state.withLock { $0.current = nil }
        read.outcome.settle(())
      }
    }
    _ = await read.outcome.wait(until: read.end)
  }

  /// Lets a moment pass until the next read, because the last one didn't help.
  func postpone() { state.withLock { $0.next = .now(plus: Self.pause) } }
}
#endif
