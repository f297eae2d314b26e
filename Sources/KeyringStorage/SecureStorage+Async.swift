// SPDX-License-Identifier: Apache-2.0

// Asynchronous overloads of the storage's operations. You call them by the same names, with `await`.

extension SecureStorage {
  /// Stores an item under its key, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - item: The key, and the parts to store under it.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. The item
  ///   may have been stored by then.
  public nonisolated(nonsending) func save(_ item: SecureItem, mode: SaveMode)
    async throws(SecureStorageError)
  {
    try await saveWithoutBlocking(item, mode: mode)
  }

  /// Finds items, newest first, without blocking the task's thread.
  ///
  /// - Parameter query: The conditions for the items, and the parts to fetch.
  /// - Returns: The items that were found.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func items(matching query: ItemQuery)
    async throws(SecureStorageError) -> [SecureItem]
  {
    try await itemsWithoutBlocking(matching: query)
  }

  /// Removes items permanently, without blocking the task's thread.
  ///
  /// - Parameter query: The conditions for the items. It must name a key, an attribute, or a label.
  /// - Returns: The number of items that were removed.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled. Items may
  ///   have been removed by then.
  @discardableResult
  public nonisolated(nonsending) func removeItems(matching query: ItemQuery)
    async throws(SecureStorageError) -> Int
  {
    try await removeItemsWithoutBlocking(matching: query)
  }

  /// Finds the items stored under keys, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: The parts of the items to fetch.
  /// - Returns: The items that were found, by key.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await itemsWithoutBlocking(for: keys, details: details)
  }
}
