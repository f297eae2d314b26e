// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A storage that locks its collection after every operation, so that the user confirms each use.
///
/// The keyring asks the user for the collection's password before the next operation.
///
/// ```swift
/// let vault = AutoLockingStorage(SecretServiceStorage(collection: .named("vault")))
/// ```
///
/// Copies take turns, so create one storage for each collection and share it. An operation waits for the
/// operations before it, at most for the `timeout` that you pass. Its wait ends when its task is
/// cancelled. If the task is cancelled or the time is up while the keyring asks, the prompt stays open. If
/// the user answers it later, the collection is unlocked until the next operation. An operation also fails
/// if the collection can't be locked again afterwards.
///
/// Use this storage for a separate collection with few, valuable items. It refuses every operation on the
/// default collection and the session collection, because locking these would lock the items of every
/// program. The keyring shows its own text to the user. The Secret Service has no way to pass it a reason.
public struct AutoLockingStorage<Base: CollectionStorage>: AsynchronousStorage {
  private let base: Base
  private let timeout: Duration
  private let turn = TaskSemaphore(1)

  /// Creates a storage that locks a collection after every operation.
  ///
  /// - Parameters:
  ///   - base: The storage of the collection.
  ///   - timeout: The maximum time that an operation waits for the operations before it.
  public init(_ base: Base, timeout: Duration = .seconds(300)) {
    self.base = base
    self.timeout = timeout
  }

  /// The limit of the wrapped storage.
  public var secretByteLimit: Int { base.secretByteLimit }

  /// The promise of the wrapped storage.
  public var durability: StorageDurability { base.durability }

  /// Stores an item under its key, after the user has unlocked the collection.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await lockingAfterwards(.save, await base.save(item, mode: mode))
  }

  /// Returns the items that match a query, after the user has unlocked the collection.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await lockingAfterwards(.read, await base.items(matching: query))
  }

  /// Returns the items stored under keys, after the user has unlocked the collection.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await lockingAfterwards(.read, await base.items(for: keys, details: details))
  }

  /// Removes the items that match a query, after the user has unlocked the collection.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await lockingAfterwards(.remove, await base.removeItems(matching: query))
  }

  /// Returns the name of the storage that has an item, after the user has unlocked the collection.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try await lockingAfterwards(.read, await base.origin(of: key))
  }

  /// Finds out whether the collection can be used, without unlocking it.
  ///
  /// The findings usually say that the collection is locked. Nothing is written, because that would need a
  /// prompt.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis { try await base.diagnose() }

  private func lockingAfterwards<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: @autoclosure () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    try await ThreadExecutor.ofTurns.run { () async throws(SecureStorageError) in
      // Run one operation at a time. While one has unlocked the collection, another would run without a
      // prompt.
      let wait = await turn.take(until: .now(plus: timeout))
      guard wait == .ended else {
        throw error(wait, during: operation, "Other operations kept using the collection.")
      }
      defer { turn.giveBack() }
      if try await base.isSharedCollection() {
        throw error(
          .invalidArgument, during: operation,
          message: "A collection that all programs share can't be locked after each use.",
          recoverySuggestion: "Use a separate collection with a label.", argument: "collection")
      }
      // Lock before the operation, too: another program may have unlocked the collection, and the user must
      // be asked.
      try await base.lock()
      let outcome = await Swift.Result(body)
      // Lock even if the task is cancelled. Cancellation ends the wait for the user, not the protection.
      try await withoutCancellation { [base] in
        await Swift.Result { () async throws(SecureStorageError) in try await base.lock() }
      }.get()
      return try outcome.get()
    }
  }
}
