// The asynchronous overloads of the storage's operations: the same names, called with `await`.

extension SecureStorage {
  /// Stores an item under its key, without blocking the task's thread.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled;
  ///   the item may have been stored all the same then.
  public nonisolated(nonsending) func save(_ item: SecureItem, _ mode: SaveMode)
    async throws(SecureStorageError)
  {
    try await saveWithoutBlocking(item, mode)
  }

  /// Finds items, newest first, without blocking the task's thread.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func items(matching query: ItemQuery)
    async throws(SecureStorageError) -> [SecureItem]
  {
    try await itemsWithoutBlocking(matching: query)
  }

  /// Removes items for good, without blocking the task's thread.
  ///
  /// - Parameter query: Which items. One that names nothing is refused.
  /// - Returns: The number of items that were removed.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled;
  ///   items may have been removed all the same then.
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
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await itemsWithoutBlocking(for: keys, details: details)
  }
}
