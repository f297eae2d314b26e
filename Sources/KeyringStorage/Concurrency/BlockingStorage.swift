// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations block their thread while they wait.
///
/// An `await` runs the operation on one of at most 64 threads of the library's thread pool. Further calls
/// wait until one of these threads is free. If a storage often waits for a long time, write it as an
/// ``AsynchronousStorage``. If the task is cancelled, ``CancellationSignal/current`` tells the operation.
public protocol BlockingStorage: SecureStorage {}

extension BlockingStorage {
  /// Runs the synchronous operation on a thread of the library's thread pool.
  public nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await blocking(.save) { () throws(SecureStorageError) in try save(item, mode: mode) }
  }

  /// Runs the synchronous operation on a thread of the library's thread pool.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Runs the synchronous operation on a thread of the library's thread pool.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in
      try items(for: keys, details: details)
    }
  }

  /// Runs the synchronous operation on a thread of the library's thread pool.
  public nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await blocking(.remove) { () throws(SecureStorageError) in
      try removeItems(matching: query)
    }
  }
}
