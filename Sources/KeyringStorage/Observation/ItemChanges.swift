internal import Synchronization

/// The changes of a storage's items, as they happen: what ``ObservableStorage/changes(matching:)``
/// answers with.
///
/// Read it in one place: two that read the same stream take the changes from each other. It ends
/// when a task is cancelled that waits for the next change.
public struct ItemChanges: AsyncSequence, Sendable {
  /// It never fails: what can go wrong does so before there is a stream.
  public typealias Failure = Never

  /// Waits for one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription

    /// Waits for the next change.
    ///
    /// - Returns: The change, or `nil` when the task was cancelled.
    public mutating func next() async -> ItemChange? { await subscription.next() }

    /// Waits for the next change.
    ///
    /// - Parameter actor: Where it is called.
    /// - Returns: The change, or `nil` when the task was cancelled.
    /// - Throws: Nothing.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> ItemChange? {
      await subscription.next()
    }
  }

  /// Ends the observation when nobody has the stream or its iterator any more.
  fileprivate final class Subscription: Sendable {
    private let buffer: ItemChangeBuffer
    private let observations: [StorageObservation]

    init(_ buffer: ItemChangeBuffer, _ observations: [StorageObservation]) {
      self.buffer = buffer
      self.observations = observations
    }

    deinit { cancel() }

    func next() async -> ItemChange? {
      let change = await buffer.next()
      if change == nil { cancel() }
      return change
    }

    private func cancel() { for observation in observations { observation.cancel() } }
  }

  private let subscription: Subscription

  /// Observes storages, all in one stream.
  ///
  /// - Parameter sources: The storages, and whose changes of each.
  /// - Throws: `.canceled`, or what keeps a storage from being observed.
  package init(
    of sources: [(storage: any ObservableStorage, query: ItemQuery)]
  ) async throws(SecureStorageError) {
    let buffer = ItemChangeBuffer()
    var observations: [StorageObservation] = []
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

  /// Makes what a loop reads the stream with.
  ///
  /// - Returns: The iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// Changes that wait to be read: at most one for each item, so that a slow reader blocks nobody and
/// fills no memory.
final class ItemChangeBuffer: Sendable {
  private struct State: Sendable {
    var changes: [ItemKey: ItemChange] = [:]
    /// The keys of the changes, the longest waiting first.
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

  /// Hands the change to who waits for one, or keeps it.
  func append(_ change: ItemChange) {
    let reader = state.withLock { state -> CheckedContinuation<ItemChange?, Never>? in
      if state.isFinished { return nil }
      if !state.readers.isEmpty { return state.readers.removeFirst() }
      state.add(change)
      return nil
    }
    reader?.resume(returning: change)
  }

  /// Waits for a change; `nil` when the task is cancelled, and ever after.
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

  private func finish() {
    let readers = state.withLock { state in
      let readers = state.readers
      state = State(isFinished: true)
      return readers
    }
    for reader in readers { reader.resume(returning: nil) }
  }
}
