// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import Synchronization

/// Reads of the keys for events whose items the known keys don't open.
///
/// The source of the keys may take long to answer. The events of other items pass it.
final class KeyRefresh: Sendable {
  /// A read that has begun.
  struct Read: Sendable {
    fileprivate let outcome = SharedOutcome<Void>()
    /// The moment until which events wait for it, in microseconds of the monotonic clock.
    fileprivate let end = Int64.now(plus: KeyRefresh.patience)

    /// Waits a moment for the keys.
    func wait() async { _ = await outcome.wait(until: end) }
  }

  private struct State: Sendable {
    var current: Read?
    /// The moment from which a read may begin, in microseconds of the monotonic clock.
    var next: Int64 = 0
  }

  private let state = Mutex(State())

  /// The longest time that events wait for a source of the keys that doesn't block its thread.
  private static let patience = Duration.seconds(2)

  /// The time from a vain read to the next one.
  private static let pause = Duration.seconds(5)

  /// Returns the current read, or one that the caller begins, or `nil` shortly after a vain one.
  ///
  /// Events that need the keys at the same time share a read.
  func read() -> (Read, isNew: Bool)? {
    state.withLock { state in
      if let current = state.current { return (current, false) }
      guard state.next <= ThreadExecutor.now else { return nil }
      let new = Read()
      state.current = new
      return (new, true)
    }
  }

  /// Notes that a read has ended, and lets the events go on.
  func end(_ read: Read) {
    state.withLock { $0.current = nil }
    read.outcome.settle(())
  }

  /// Lets a moment pass after a vain read.
  func postpone() { state.withLock { $0.next = .now(plus: Self.pause) } }
}
#endif
