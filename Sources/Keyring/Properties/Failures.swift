// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// The errors of one property, shared by all its copies.
final class Failures: Sendable {
  private struct State {
    var read: SecureStorageError?
    var write: SecureStorageError?

    var current: SecureStorageError? { write ?? read }
  }

  private let state = Mutex(State())
  /// Indicates whether there may be an error, so that a success after no failure costs nothing.
  private let mayBeSet = Atomic(false)

  private let readers = Readers()

  var current: SecureStorageError? {
    if Tracking.isCurrent { Tracking.track(readers.reading()) }
    return state.withLock(\.current)
  }

  func readFailed(_ error: SecureStorageError) { change { $0.read = error } }

  func writeFailed(_ error: SecureStorageError) { change { $0.write = error } }

  func readSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0.read = nil } } }

  func writeSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0 = State() } } }

  private func change(_ body: (inout State) -> Void) {
    // Readers who are told of an equal error would read again, and fail again, for ever.
    let isNew = state.withLock { state in
      var new = state
      body(&new)
      return new.current != state.current
    }
    if isNew { readers.willChange() }
    state.withLock { state in
      body(&state)
      mayBeSet.store(state.current != nil, ordering: .releasing)
    }
    if isNew { readers.didChange() }
  }
}
