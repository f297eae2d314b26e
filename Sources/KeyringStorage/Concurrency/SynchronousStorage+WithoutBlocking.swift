// SPDX-License-Identifier: Apache-2.0

extension SynchronousStorage {
  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await blocking(.save) { () throws(SecureStorageError) in try save(item, mode: mode) }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await blocking(.read) { () throws(SecureStorageError) in
      try items(for: keys, details: details)
    }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await blocking(.remove) { () throws(SecureStorageError) in
      try removeItems(matching: query)
    }
  }
}
