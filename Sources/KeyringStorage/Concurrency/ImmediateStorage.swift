// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations never wait for long, such as one in memory.
///
/// An `await` runs the operation at once, on the executor of the caller.
public protocol ImmediateStorage: SecureStorage {}

extension ImmediateStorage {
  /// Runs the operation at once.
  public nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try immediately(.save) { () throws(SecureStorageError) in try save(item, mode: mode) }
  }

  /// Runs the operation at once.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try immediately(.read) { () throws(SecureStorageError) in try items(matching: query) }
  }

  /// Runs the operation at once.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try immediately(.read) { () throws(SecureStorageError) in
      try items(for: keys, details: details)
    }
  }

  /// Runs the operation at once.
  public nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try immediately(.remove) { () throws(SecureStorageError) in try removeItems(matching: query) }
  }
}

extension SecureStorage {
  /// Runs a synchronous operation at once, unless the task is cancelled.
  ///
  /// The operation is a closure, because a call in an asynchronous function means the asynchronous overload.
  func immediately<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try checkCancellation(operation)
    return try body()
  }

  /// Throws if the task is cancelled.
  package func checkCancellation(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    if Task.isCancelled { throw error(.canceled, during: operation) }
  }
}
