// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The changes of a storage's items, as they happen, from ``ObservableStorage/changes(matching:)``.
///
/// Read the stream in one place only. It ends when a task that waits for the next change is cancelled.
public struct ItemChanges: AsyncSequence, Sendable {
  /// The error type of the stream, which never fails.
  ///
  /// Errors are thrown before there is a stream.
  public typealias Failure = Never

  /// An iterator that waits for one change after another.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription

    /// Waits for the next change.
    ///
    /// - Returns: The change, or `nil` if the task was cancelled.
    public mutating func next() async -> ItemChange? { await subscription.next() }

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor that the caller is isolated to.
    /// - Returns: The change, or `nil` if the task was cancelled.
    /// - Throws: Nothing.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> ItemChange? {
      await subscription.next()
    }

    /// Removes the changes that wait to be read.
    package mutating func removeWaiting() { subscription.removeWaiting() }
  }

  /// An object that ends the subscriptions when the stream and its iterators are released.
  fileprivate final class Subscription: Sendable {
    private let buffer: ItemChangeBuffer
    private let observations: [StorageSubscription]

    init(_ buffer: ItemChangeBuffer, _ observations: [StorageSubscription]) {
      self.buffer = buffer
      self.observations = observations
    }

    deinit { cancel() }

    func next() async -> ItemChange? {
      let change = await buffer.next()
      if change == nil { cancel() }
      return change
    }

    func removeWaiting() { buffer.removeAll() }

    private func cancel() { for observation in observations { observation.cancel() } }
  }

  private let subscription: Subscription

  /// Creates a stream of the changes of several storages.
  ///
  /// - Parameter sources: The storages, each with a query for the items whose changes to report.
  /// - Throws: `.canceled`, or the error of a storage that can't be observed.
  package init(
    of sources: [(storage: any ObservableStorage, query: ItemQuery)]
  ) async throws(SecureStorageError) {
    let buffer = ItemChangeBuffer()
    var observations: [StorageSubscription] = []
    for (storage, query) in sources {
      let observation = try await storage.observeWithoutBlocking(query) { event in
        guard case .changed(let change) = event, query.matches(SecureItem(key: change.key))
        else { return }
        buffer.append(change)
      }
      observations.append(observation)
    }
    subscription = Subscription(buffer, observations)
  }

  /// Creates the iterator with which a loop reads the stream.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// A buffer of changes that wait to be read.
///
/// It keeps at most one change for each item, so a slow reader neither blocks a writer nor fills the
/// memory.
final class ItemChangeBuffer: Sendable {
  private struct State: Sendable {
    var changes: [ItemKey: ItemChange] = [:]
    /// The keys of the changes, the one that has waited longest first.
    var order: [ItemKey] = []
    var readers: [CheckedContinuation<ItemChange?, Never>] = []
    var isFinished = false

    mutating func takeFirst() -> ItemChange? {
      if order.isEmpty { return nil }
      return changes.removeValue(forKey: order.removeFirst())
    }

    mutating func add(_ change: ItemChange) {
      guard let earlier = changes[change.key] else {
        changes[change.key] = change
        return order.append(change.key)
      }
      changes[change.key] = earlier.followed(by: change)
      if changes[change.key] == nil { order.removeAll { $0 == change.key } }
    }
  }

  private let state = Mutex(State())

  /// Passes a change to a waiting reader, or keeps it if there is none.
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
  func removeAll() { state.withLock { ($0.changes, $0.order) = ([:], []) } }

  private func finish() {
    let readers = state.withLock { exchange(&$0, with: State(isFinished: true)) }.readers
    for reader in readers { reader.resume(returning: nil) }
  }
}
