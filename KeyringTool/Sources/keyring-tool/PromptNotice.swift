// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A line on standard error that says what the program waits for, in case the keyring's prompt can't be seen.
///
/// Git and docker run this program without a window, and the prompt may be on another screen.
enum PromptNotice {
  private static let isWanted = Atomic(true)
  private static let isScheduled = Atomic(false)
  private static let isForTurn = Atomic(false)

  /// Writes the line in a few seconds, unless the program has ended or cancelled it by then.
  static func schedule() {
    if isScheduled.exchange(true, ordering: .relaxed) { return }
    Task.detached(priority: .background) {
      try await Task.sleep(for: .seconds(4))
      guard isWanted.load(ordering: .relaxed) else { return }
      let isForTurn = isForTurn.load(ordering: .relaxed)
      Terminal.complain(
        isForTurn
          ? "waiting for another program that updates the item, or for a prompt on the screen …"
          : "waiting for the keyring, which may show a prompt on the screen …")
    }
  }

  /// Writes the line in a few seconds, of which it says that the program may wait for its turn.
  static func scheduleForTurn() {
    isForTurn.store(true, ordering: .relaxed)
    schedule()
  }

  /// Cancels the line, because the program asks the user itself or waits for something else.
  static func cancel() { isWanted.store(false, ordering: .relaxed) }
}
