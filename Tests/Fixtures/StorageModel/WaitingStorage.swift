// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
package import KeyringStorage

/// A storage without items, each of whose operations waits for a moment.
package struct WaitingStorage: AsynchronousStorage {
  private let isForUser: Bool

  /// Creates a storage that waits for itself, or for the user.
  package init(forUser isForUser: Bool = false) { self.isForUser = isForUser }

  package func saveWithoutBlocking(_ item: SecureItem, mode: SaveMode) async { await wait() }

  package func itemsWithoutBlocking(matching query: ItemQuery) async -> [SecureItem] {
    await wait()
    return []
  }

  package func removeItemsWithoutBlocking(matching query: ItemQuery) async -> Int {
    await wait()
    return 0
  }

  private func wait() async {
    if isForUser { await ThreadExecutor.waitingForUser(pause) } else { await pause() }
  }

  private nonisolated(nonsending) func pause() async {
    _ = await Waiter.wait(until: .now(plus: .milliseconds(1))) { _ in }
  }
}
