// SPDX-License-Identifier: Apache-2.0

#if Configuration
internal import KeyringRuntime
internal import KeyringStorage

/// A sequence that emits the value at first and after each change.
///
/// With no changes, it emits the first value alone.
struct Updates<Element: Sendable>: AsyncSequence, Sendable {
  typealias Failure = Never

  let changes: ItemChanges?
  let read: @Sendable () async -> Element

  func makeAsyncIterator() -> Iterator {
    Iterator(changes: changes?.makeAsyncIterator(), read: read)
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: ItemChanges.Iterator?
    fileprivate let read: @Sendable () async -> Element
    fileprivate var hasBegun = false

    mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? {
      if hasBegun {
        guard await nextChange(isolation: actor) else { return nil }
      }
      hasBegun = true
      return Task.isCancelled ? nil : await read()
    }

    mutating func next() async -> Element? { await next(isolation: nil) }

    /// Waits for a change, or with no changes for the cancellation of the task.
    private mutating func nextChange(isolation actor: isolated (any Actor)?) async -> Bool {
      if changes != nil {
        guard await changes?.next(isolation: actor) != nil else { return false }
        // The read that follows shows all of them.
        changes?.removeWaiting()
        return true
      }
      _ = await Waiter.wait(until: nil) { _ in }
      return false
    }
  }
}
#endif
