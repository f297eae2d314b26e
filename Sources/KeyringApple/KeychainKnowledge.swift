// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The facts about the program that a storage has found out.
final class KeychainKnowledge: Sendable {
  private struct State {
    var isUsable = false
    var ownGroup: String?
  }

  private let state = Mutex(State())

  /// `true` after the keychain has shown that the program may use it, and that it isn't before the first unlock.
  var isUsable: Bool {
    get { state.withLock { $0.isUsable } }
    set { state.withLock { $0.isUsable = newValue } }
  }

  /// The program's first access group.
  var ownGroup: String? {
    get { state.withLock { $0.ownGroup } }
    set { state.withLock { $0.ownGroup = newValue } }
  }
}
