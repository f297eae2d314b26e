// SPDX-License-Identifier: Apache-2.0

/// The changes of a storage's items, as they happen, from ``ObservableStorage/changes(matching:)``.
///
/// Read the stream in one place. It ends with the cancellation of a task that waits for the next change.
///
/// ```swift
/// for await change in try await storage.changes() { print(change.key) }
/// ```
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
    /// - Returns: The change, or `nil` in a cancelled task.
    public mutating func next() async -> ItemChange? { await subscription.next() }

    /// Waits for the next change.
    ///
    /// - Parameter actor: The actor that the caller is isolated to.
    /// - Returns: The change, or `nil` in a cancelled task.
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
      let observation = try await storage.observeForLibraryWithoutBlocking(query) { event in
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

extension ObservableStorage {
  /// Returns a stream of the changes to items from now on, by any program.
  ///
  /// Changes wait in the stream until you read them. A slow reader gets one change for each item, perhaps the
  /// removal of an item that it wasn't notified of before.
  ///
  /// ```swift
  /// for await change in try await storage.changes(matching: .service("org.example.app")) {
  ///   if case .replaced(key) = change { await signInAgain() }
  /// }
  /// ```
  ///
  /// - Parameter query: The items whose changes to report. An item is compared by its key alone, so a query
  ///   with a label, times or a limit is refused, and attributes that aren't parts of a key match no item. An
  ///   empty query matches all items.
  /// - Returns: The changes. The stream ends with the cancellation of the task that reads it.
  /// - Throws: `.invalidArgument` for a query that needs more than a key, `.canceled`, or another error of
  ///   the storage.
  public nonisolated(nonsending) func changes(
    matching query: ItemQuery = ItemQuery()
  ) async throws(SecureStorageError) -> ItemChanges {
    try validate(query, for: .observe)
    if query.label != nil || query.created != nil || query.modified != nil || query.limit != nil {
      throw error(
        .invalidArgument, during: .observe,
        message: "A changed item is known only by its key.",
        recoverySuggestion: "Remove label, created, modified and limit from the query.",
        argument: "query")
    }
    return try await ItemChanges(of: [(self, query)])
  }
}
