// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

// Asynchronous overloads of all operations and of the methods for single items. You call them by the same
// names, with `await`.

extension SecureStorage {
  /// Stores an item under its key, suspending the task.
  ///
  /// - Parameters:
  ///   - item: The key, and the parts to store under it.
  ///   - mode: The save mode.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The item may have been stored by then.
  public nonisolated(nonsending) func save(_ item: SecureItem, mode: SaveMode)
    async throws(SecureStorageError)
  {
    try await saveWithoutBlocking(item, mode: mode)
  }

  /// Finds items, newest first, suspending the task.
  ///
  /// - Parameter query: The conditions for the items, and the parts to fetch.
  /// - Returns: The items that were found.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func items(matching query: ItemQuery)
    async throws(SecureStorageError) -> [SecureItem]
  {
    try await itemsWithoutBlocking(matching: query)
  }

  /// Removes items permanently, suspending the task.
  ///
  /// - Parameter query: The conditions for the items. It must name a key, an attribute, or a label.
  /// - Returns: The number of items that were removed.
  /// - Throws: The errors of the form that blocks, or `.canceled`. Items may have been removed by then.
  @discardableResult
  public nonisolated(nonsending) func removeItems(matching query: ItemQuery)
    async throws(SecureStorageError) -> Int
  {
    try await removeItemsWithoutBlocking(matching: query)
  }

  /// Finds the items stored under keys, suspending the task.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: The parts of the items to fetch.
  /// - Returns: The items that were found, by key.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await itemsWithoutBlocking(for: keys, details: details)
  }

  /// Finds out whether an item is stored under a key, without fetching its secret.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` for a present item.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func exists(_ key: ItemKey) async throws(SecureStorageError)
    -> Bool
  {
    try await item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - details: The parts of the item to fetch.
  /// - Returns: The item, or `nil` for an absent one.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func item(
    for key: ItemKey, details: ItemQuery.Details = .all
  ) async throws(SecureStorageError) -> SecureItem? {
    try await itemsWithoutBlocking(for: [key], details: details)[key]
  }

  /// Removes the item stored under a key.
  ///
  /// The next read may find another program's item of the same name.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` for an item that was there.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The item may have been removed by then.
  @discardableResult
  public nonisolated(nonsending) func remove(_ key: ItemKey) async throws(SecureStorageError)
    -> Bool
  {
    try await removeItemsWithoutBlocking(matching: .key(key)) > 0
  }

  /// Reads a secret without decoding it.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The secret, or `nil` for an absent item.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func secret(for key: ItemKey) async throws(SecureStorageError)
    -> Secret?
  {
    try await value(for: key, as: .secret)
  }

  /// Reads a password.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The password, or `nil` for an absent item.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func password(for key: ItemKey) async throws(SecureStorageError)
    -> String?
  {
    try await value(for: key, as: .text)
  }

  /// Stores a password, or removes the item.
  ///
  /// - Parameters:
  ///   - password: The password, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The change may have been made by then.
  public nonisolated(nonsending) func setPassword(
    _ password: String?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(password, for: key, as: .text, mode: mode)
  }

  /// Reads bytes.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The bytes, or `nil` for an absent item.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func data(for key: ItemKey) async throws(SecureStorageError)
    -> Data?
  {
    try await value(for: key, as: .data)
  }

  /// Stores bytes unchanged, or removes the item.
  ///
  /// - Parameters:
  ///   - data: The bytes, or `nil` to remove the item.
  ///   - key: The key of the item.
  ///   - mode: The save mode.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The change may have been made by then.
  public nonisolated(nonsending) func setData(
    _ data: Data?, for key: ItemKey, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) {
    try await setValue(data, for: key, as: .data, mode: mode)
  }
}
