// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// A process that another one has made with fork(2), and that runs the same program.
///
/// The threads of the other process are missing here, and a wait for them would last forever.
package enum ForkedProcess {
  private static let isCurrent = Atomic(false)
  private static let isWatched: Bool = {
    // The handler mustn't be what first uses the variable.
    isCurrent.store(false, ordering: .relaxed)
    return pthread_atfork(nil, nil) { ForkedProcess.isCurrent.store(true, ordering: .relaxed) } == 0
  }()

  /// Whether this process was forked after it had used a storage.
  package static var hasLostThreads: Bool { isWatched && isCurrent.load(ordering: .relaxed) }

  /// The text of an error, and what to do about it.
  package static let message = "The process was forked, and the storage's threads are gone."
  package static let recoverySuggestion =
    "Start a program in the new process, or use storages only after the fork."
}
