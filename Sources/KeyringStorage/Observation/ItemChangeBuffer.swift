// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import Synchronization

/// A buffer of changes that wait to be read.
///
/// It keeps one change for each key at most. A slow reader leaves writers alone, and quick changes of an item
/// need the memory of one.
final class ItemChangeBuffer: Sendable {
  private struct State: Sendable {
    /// The first and the last change of each item since the last one of the item that was read.
    var changes: [ItemKey: (first: ItemChange, last: ItemChange)] = [:]
    /// The keys of the changes, the one that has waited longest first.
    var order = Queue<ItemKey>()
    var readers: [CheckedContinuation<ItemChange?, Never>] = []
    var isFinished = false

    mutating func takeFirst() -> ItemChange? {
      order.popFirst().flatMap { changes.removeValue(forKey: $0) }.map { $0.last.since($0.first) }
    }

    mutating func add(_ change: ItemChange) {
      if changes[change.key] == nil { order.append(change.key) }
      changes[change.key, default: (change, change)].last = change
    }
  }

  private let state = Mutex(State())

  /// Passes a change to a waiting reader, or keeps it for the next one.
  func append(_ change: ItemChange) {
    let reader = state.withLock { state -> CheckedContinuation<ItemChange?, Never>? in
      if state.isFinished { return nil }
      if !state.readers.isEmpty { return state.readers.removeFirst() }
      state.add(change)
      return nil
    }
    reader?.resume(returning: change)
  }

  /// Waits for a change, and returns `nil` after a task that waited was cancelled.
  func next() async -> ItemChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: ItemChange?? = state.withLock { state in
          if state.isFinished { return .some(nil) }
          if let change = state.takeFirst() { return change }
          state.readers.append(continuation)
          return .none
        }
        if case .some(let change) = result { continuation.resume(returning: change) }
      }
    } onCancel: {
      finish()
    }
  }

  /// Removes the changes that it keeps.
  func removeAll() { state.withLock { ($0.changes, $0.order) = ([:], Queue()) } }

  private func finish() {
    let readers = state.withLock { exchange(&$0, with: State(isFinished: true)) }.readers
    for reader in readers { reader.resume(returning: nil) }
  }
}
