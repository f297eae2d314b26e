// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

extension FirstAvailableStorage {
  /// Stores an item in the selected storage.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await perform(.save, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.save(item, mode: mode)
    }
  }

  /// Returns the items of the selected storage that match a query.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(matching: query)
    }
  }

  /// Returns the items stored under keys in the selected storage.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(for: keys, details: details)
    }
  }

  /// Removes the items that match a query from the selected storage.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await perform(.remove, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.removeItems(matching: query)
    }
  }

  /// Waits for a turn of the selected storage.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try await perform(.takeTurn, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.takeTurnWithoutBlocking(for: key, details: details, timeout: timeout)
    }
  }

  /// Returns the name of the storage that has an item, as reported by the selected storage.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.origin(of: key)
    }
  }

  /// Calls a closure with every event of the selected storage.
  ///
  /// After another storage is selected, the closure gets `.interrupted`, and no further event. Observe the
  /// storage again then.
  ///
  /// - Parameters:
  ///   - query: The items whose changes are reported by key.
  ///   - observer: The closure to call.
  /// - Returns: The subscription, which ends at the latest when it's released.
  /// - Throws: `.notObservable` for a selected storage that is silent about changes, its other errors, or the error of
  ///   a failed selection.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let generation = decision.state.withLock { $0.generation }
    // For the observer, the selection is a source of events, too. Once it's interrupted, it stays so.
    let events = ObserverList()
    let own = events.add(observer)
    let observation = try await perform(.observe) { (storage) async throws(SecureStorageError) in
      try await storage.observable()
        .observeForLibraryWithoutBlocking(query) { events.report($0, from: 0) }
    }
    let selection = decision.observers.addForLibrary { events.report($0, from: 1) }
    if decision.state.withLock({ $0.generation }) != generation {
      events.report(.interrupted, from: 1)
    }
    return StorageSubscription {
      own.cancel()
      selection.cancel()
      observation.cancel()
    }
  }

  private func perform<Result>(
    _ operation: SecureStorageError.Operation, writing: Bool = false,
    _ body: (any SecureStorage) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let selection =
      try await writing ? selectionForWriting(for: operation) : selection(for: operation)
    do throws(SecureStorageError) {
      return try await body(selection.storage)
    } catch {
      var error = error
      error.backendName = selection.description
      throw error
    }
  }
}
