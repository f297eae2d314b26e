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
  /// `true` if there may be an error, so that most successes cost nothing.
  private let mayBeSet = Atomic(false)

  private let readers = Readers()

  var current: SecureStorageError? {
    if Tracking.isCurrent { Tracking.track(readers.reading(in: SecureStorageDefaults.context)) }
    return state.withLock(\.current)
  }

  func readFailed(_ error: SecureStorageError) { change { $0.read = error } }

  func writeFailed(_ error: SecureStorageError) { change { $0.write = error } }

  func readSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0.read = nil } } }

  func writeSucceeded() { if mayBeSet.load(ordering: .acquiring) { change { $0 = State() } } }

  private func change(_ body: (inout State) -> Void) {
    let isNew = state.withLock { state in
      let old = state.current
      body(&state)
      mayBeSet.store(state.current != nil, ordering: .releasing)
      return !Self.isSame(old, state.current)
    }
    if isNew { readers.didChange() }
  }

  /// Returns `true` for errors that readers needn't tell apart.
  ///
  /// Readers who are told of such an error would read again, and fail again, for ever. Its cause may name a number or a
  /// time that differs in each.
  private static func isSame(_ old: SecureStorageError?, _ new: SecureStorageError?) -> Bool {
    old?.code == new?.code && old?.operation == new?.operation && old?.message == new?.message
  }
}
