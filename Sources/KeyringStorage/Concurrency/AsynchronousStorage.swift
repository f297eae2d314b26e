// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A storage that is written with `async` and `await`.
///
/// You write the operations whose names end in `WithoutBlocking`. A synchronous operation runs the same code
/// to its end on the calling thread. The calling thread is enough for that: the code runs on an executor that
/// uses it.
///
/// The code that you await must not need the calling thread for anything else. For example, a storage that
/// gets its answers on an event loop's thread can't be called synchronously on that thread. Child tasks of a
/// synchronous operation share its thread, too.
///
/// ```swift
/// func itemsWithoutBlocking(
///   matching query: ItemQuery
/// ) async throws(SecureStorageError) -> [SecureItem] {
///   try validate(query, for: .read)
///   return try await server.find(query)
/// }
/// ```
public protocol AsynchronousStorage: SecureStorage {}

extension AsynchronousStorage {
  /// Runs the asynchronous operation to its end on this thread.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await saveWithoutBlocking(item, mode: mode)
    }
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await itemsWithoutBlocking(matching: query)
    }
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await itemsWithoutBlocking(for: [key], details: details)[key]
    }
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await itemsWithoutBlocking(for: keys, details: details)
    }
  }

  /// Returns the items stored under keys, fetching one after the other.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var items: [ItemKey: SecureItem] = [:]
    for key in keys {
      items[key] = try await itemsWithoutBlocking(matching: .key(key, details: details)).first
    }
    return items
  }

  /// Runs the asynchronous operation to its end on this thread.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await removeItemsWithoutBlocking(matching: query)
    }
  }
}
