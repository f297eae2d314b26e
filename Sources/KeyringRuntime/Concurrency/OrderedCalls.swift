// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// Calls that are collected under a lock, and made after it: one at a time, and in their order.
///
/// A call may use what the lock protects, and may collect further calls.
package final class OrderedCalls: Sendable {
  private struct State: Sendable {
    var calls = Queue<@Sendable () -> Void>()
    var isCalling = false
  }

  private let state = Mutex(State())
  private let turn = Mutex(())

  package init() {}

  /// Indicates whether this thread is making calls.
  ///
  /// It then waits for no other thread that does. That one may be waiting for this one.
  private static var isWithinCall: Bool {
    get { pthread_getspecific(key) != nil }
    set { pthread_setspecific(key, newValue ? UnsafeRawPointer(bitPattern: 1) : nil) }
  }

  /// The key under which each thread keeps whether it's making calls.
  ///
  /// A task that a call starts doesn't belong to the call.
  private static let key = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "too many keys for values of threads")
    return key
  }()

  /// Adds a call, under the lock that keeps the calls in their order.
  package func collect(_ call: @escaping @Sendable () -> Void) {
    state.withLock { $0.calls.append(call) }
  }

  /// Makes the calls that were collected, without that lock, or waits until another thread has made them.
  ///
  /// Within a call, it leaves further ones to the thread that makes them.
  package func make() {
    let (isCalling, isEmpty) = state.withLock { ($0.isCalling, $0.calls.isEmpty) }
    if isCalling ? Self.isWithinCall : isEmpty { return }
    turn.withLock { _ in
      let wasWithinCall = Self.isWithinCall
      Self.isWithinCall = true
      defer { Self.isWithinCall = wasWithinCall }
      while let call = next() { call() }
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      state.isCalling = !state.calls.isEmpty
      return state.calls.popFirst()
    }
  }
}
