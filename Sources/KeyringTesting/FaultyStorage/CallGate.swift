// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// A gate at which the calls of a ``FaultyStorage`` wait until you open it.
///
/// ```swift
/// let gate = storage.suspend(.save)
/// async let saving: Void = settings.$authToken.write("new")
/// await gate.waitForCall()
/// // The app's behavior in the meantime …
/// gate.open()
/// ```
public final class CallGate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var hasCall = false
    var waiting: [Waiter] = []
    var watching: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits until at least one call has arrived.
  public func waitForCall() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if !state.hasCall { state.watching.append(continuation) }
        return state.hasCall
      }
      if isThere { continuation.resume() }
    }
  }

  /// Lets waiting and future calls pass.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.end() }
  }

  /// Waits until the gate is open, the call is cancelled, or the time is over.
  func pass(
    _ operation: SecureStorageError.Operation, _ backendName: String, after limit: Duration? = nil
  ) async throws(SecureStorageError) {
    let outcome = await Waiter.wait(until: limit.map { .now(plus: $0) }) { waiter in
      let (isOpen, watching) = state.withLock { state in
        state.hasCall = true
        if !state.isOpen { state.waiting.append(waiter) }
        defer { state.watching = [] }
        return (state.isOpen, state.watching)
      }
      for continuation in watching { continuation.resume() }
      if isOpen { waiter.end() }
    }
    if outcome == .canceled {
      throw SecureStorageError(.canceled, operation: operation, backendName: backendName)
    }
  }
}
