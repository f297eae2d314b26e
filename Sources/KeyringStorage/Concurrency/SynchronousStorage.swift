// SPDX-License-Identifier: Apache-2.0

/// A storage that is written without `async`: a ``BlockingStorage`` or an ``ImmediateStorage``.
///
/// It gets the asynchronous form of each operation that it has.
public protocol _SynchronousStorage: SecureStorage {}

extension _SynchronousStorage {
  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await blocking(.save) { () throws(SecureStorageError) in try save(item, mode: mode) }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in
      try items(for: keys, details: details)
    }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await blocking(.remove) { () throws(SecureStorageError) in
      try removeItems(matching: query)
    }
  }

  /// Runs the synchronous diagnosis, on another thread if it may block.
  public nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await diagnosing(writing: writing) { diagnose(writing: writing) }
  }
}

extension _SynchronousStorage where Self: ObservableStorage {
  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await blocking(.observe) { () throws(SecureStorageError) in try observe(query, observer) }
  }
}

extension _SynchronousStorage where Self: LockableStorage {
  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.lock) { () throws(SecureStorageError) in try lock() }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.unlock) { () throws(SecureStorageError) in try unlock() }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isLocked() }
  }
}

extension _SynchronousStorage where Self: CollectionStorage {
  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func collectionsWithoutBlocking() async throws(SecureStorageError)
    -> [ItemCollection]
  {
    try await blocking(.read) { () throws(SecureStorageError) in try collections() }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Self {
    try await blocking(.createCollection) { () throws(SecureStorageError) in
      try createCollection(labeled: label)
    }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    try await blocking(.deleteCollection) { () throws(SecureStorageError) in
      try deleteCollection(labeled: label)
    }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func isSharedCollectionWithoutBlocking()
    async throws(SecureStorageError) -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isSharedCollection() }
  }
}
