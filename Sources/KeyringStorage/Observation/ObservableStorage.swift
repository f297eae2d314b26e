// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A storage that reports changes of its items by any program.
///
/// It has the stream ``changes(matching:)``, and its cache is never out of date. You write one form of the
/// operation, as in the three refining protocols of ``SecureStorage``.
///
/// ```swift
/// for await change in try await storage.changes(matching: .service("org.example.app")) {
///   print(change)  // created password (service: org.example.app, username: me)
/// }
/// ```
public protocol ObservableStorage: SecureStorage {
  /// The time for which a cache keeps an item by default.
  ///
  /// The default is `nil`, for a storage that reports every change. With any other value, a change that goes
  /// unreported takes effect after this time.
  var cacheLifetime: Duration? { get }

  /// Observes the items, and calls a closure for every event.
  ///
  /// It unlocks nothing, and asks the user nothing.
  ///
  /// The storage reports each change once, in the order in which they were made, or several quick ones of an
  /// item as one. Changes during an interruption come between ``StorageEvent/interrupted`` and
  /// ``StorageEvent/resumed``, those of a locked storage after an unlock.
  ///
  /// ```swift
  /// let subscription = try storage.observe(.service("org.example.app")) { event in
  ///   if case .changed(let change) = event { print(change) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report by key. An item is compared by its key alone, as in
  ///     ``ItemQuery/matches(_:)``. Pass `nil` to do without keys. The storage can then report
  ///     ``StorageEvent/mayHaveChanged(_:)`` instead, which costs less. The storage may report more keys than
  ///     you ask for.
  ///   - observer: The closure to call, soon after each event, on a thread of the library's own, and on only
  ///     one at a time. It may use the storage, and it may wait. Nobody waits for it, and it delays its own
  ///     later events alone. Above ten thousand, they become ``StorageEvent/mayHaveChanged(_:)`` of any item.
  ///     A storage of your own adds the closure to an ``ObserverList``, which does all this.
  /// - Returns: A subscription that ends the observation, at the latest when it's released.
  /// - Throws: The error of the storage.
  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription

  /// Observes the items, suspending the task.
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report by key, or `nil` to do without keys.
  ///   - observer: The closure to call.
  /// - Returns: A subscription that ends the observation, at the latest when it's released.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription
}

extension ObservableStorage {
  /// No limit, for a storage that reports every change.
  public var cacheLifetime: Duration? { nil }
}

extension Duration {
  /// The time for which a cache keeps an item that may change without a report.
  package static let cacheLifetime = Duration.seconds(60)
}

extension SecureStorage {
  /// Returns the same storage, as one that can report changes.
  ///
  /// - Returns: The storage.
  /// - Throws: `.notObservable` for any other storage.
  package func observable() throws(SecureStorageError) -> any ObservableStorage {
    if let storage = self as? any ObservableStorage { return storage }
    throw error(.notObservable, during: .observe)
  }
}

// The form of the operations that a storage doesn't write.

extension AsynchronousStorage where Self: ObservableStorage {
  /// Runs the asynchronous operation to its end on this thread.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }
}

extension SynchronousStorage where Self: ObservableStorage {
  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    // Another thread doesn't know for whom the task observes.
    let isOfLibrary = Observer.isOfLibrary
    return try await blocking(.observe) { () throws(SecureStorageError) in
      isOfLibrary ? try observeForLibrary(query, observer) : try observe(query, observer)
    }
  }
}

extension ObservableStorage {
  /// Observes the items for the library itself.
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report by key, or `nil` to do without keys.
  ///   - observer: The closure to call in the middle of a write. It returns at once, and leaves the storage
  ///     alone.
  /// - Returns: The subscription.
  /// - Throws: The errors of the observation.
  package func observeForLibrary(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try Observer.$isOfLibrary.withValue(true) {
      Result { () throws(SecureStorageError) in try observe(query, observer) }
    }.get()
  }

  /// Observes the items for the library itself, suspending the task.
  ///
  /// - Parameters:
  ///   - query: The items whose changes to report by key, or `nil` to do without keys.
  ///   - observer: The closure to call in the middle of a write. It returns at once, and leaves the storage
  ///     alone.
  /// - Returns: The subscription.
  /// - Throws: The errors of the observation.
  package nonisolated(nonsending) func observeForLibraryWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await Observer.$isOfLibrary.withValue(true) {
      await Result { () async throws(SecureStorageError) in
        try await observeWithoutBlocking(query, observer)
      }
    }.get()
  }
}
