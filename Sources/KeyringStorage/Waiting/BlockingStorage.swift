/// A storage whose operations block their thread while they wait.
///
/// An `await` runs the operation on one of at most 64 threads of the library's own. Further calls wait until
/// one of these is free, so write a storage that often waits for long as an ``AsynchronousStorage``.
/// The cancellation of the task reaches the operation as ``CancellationSignal/current``.
public protocol BlockingStorage: SecureStorage {}

extension BlockingStorage {
  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try await blocking(.save) { () throws(SecureStorageError) in try save(item, mode) }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in
      try items(for: keys, details: details)
    }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await blocking(.remove) { () throws(SecureStorageError) in
      try removeItems(matching: query)
    }
  }
}
