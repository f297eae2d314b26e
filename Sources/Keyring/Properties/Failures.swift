// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// The errors of one property, shared by all its copies.
final class Failures: Sendable {
  private struct State {
    var read: SecureStorageError?
    var write: SecureStorageError?
  }

  private let state = Mutex(State())
  /// Indicates whether there may be an error, so that a success after no failure costs nothing.
  private let mayBeSet = Atomic(false)

  var current: SecureStorageError? { state.withLock { $0.write ?? $0.read } }

  func readFailed(_ error: SecureStorageError) { change { $0.read = error } }

  func writeFailed(_ error: SecureStorageError) { change { $0.write = error } }

  func readSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0.read = nil } } }

  func writeSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0 = State() } } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      mayBeSet.store(state.read != nil || state.write != nil, ordering: .releasing)
    }
  }
}
