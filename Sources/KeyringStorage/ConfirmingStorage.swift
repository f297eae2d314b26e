/// A collection that the user confirms each use of: it is locked again after every operation, so
/// that the keyring asks for its password before the next.
///
/// ```swift
/// let vault = ConfirmingStorage(SecretServiceStorage(collection: .named("vault")))
/// ```
///
/// Copies take turns, so make one of these for a collection, and share it. An operation waits for the others
/// before it for as long as the `patience` that you give, and ends when its task is cancelled. If a task is
/// cancelled or time is up while the keyring asks, the question stays. Who answers it then unlocks the
/// collection until the next operation.
///
/// It is meant for a collection of its own, whose items are few and precious. On the default
/// collection and the session's every operation is refused: locking those would lock every program's
/// items. What the keyring shows to the user is its own text; the Secret Service has no way to hand
/// it a reason.
public struct ConfirmingStorage<Base: CollectionStorage>: AsynchronousStorage {
  private let base: Base
  private let patience: Duration
  private let turns = KeyedLocks<Bool>()

  /// Creates a storage that confirms.
  ///
  /// - Parameters:
  ///   - base: The collection.
  ///   - patience: How long an operation waits for the ones before it.
  public init(_ base: Base, patience: Duration = .seconds(300)) {
    self.base = base
    self.patience = patience
  }

  /// Stores an item under its key, once the user has unlocked the collection.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: What kept it from being stored, or the collection from being locked again.
  public func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try await lockingAfterwards(.save) { () async throws(SecureStorageError) in
      try await base.save(item, mode)
    }
  }

  /// Finds items, once the user has unlocked the collection.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: Any reason for not knowing the answer, or for not locking the collection again.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await lockingAfterwards(.read) { () async throws(SecureStorageError) in
      try await base.items(matching: query)
    }
  }

  /// Finds the items stored under keys, once the user has unlocked the collection.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: Any reason for not knowing the answer, or for not locking the collection again.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await lockingAfterwards(.read) { () async throws(SecureStorageError) in
      try await base.items(for: keys, details: details)
    }
  }

  /// Removes items, once the user has unlocked the collection.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: What kept them from being removed, or the collection from being locked again.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await lockingAfterwards(.remove) { () async throws(SecureStorageError) in
      try await base.removeItems(matching: query)
    }
  }

  /// Finds out whether the collection could be used; nobody is asked to unlock it, and so nothing is
  /// written.
  ///
  /// - Parameter writing: Without effect.
  /// - Returns: What was found out about the collection, which is locked as a rule.
  public func diagnose(writing: Bool) -> StorageDiagnosis { base.diagnose() }

  private func lockingAfterwards<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    func failure(_ reason: Waiter.Outcome) -> SecureStorageError {
      SecureStorageError(
        reason == .timedOut ? .timedOut : .canceled, operation: operation, backend: backendName,
        message: reason == .timedOut
          ? "Other operations have used the collection all the time." : nil)
    }
    return try await ThreadExecutor.ofTurns.run { () async throws(SecureStorageError) in
      // One at a time: another's operation would be done without asking while the first has unlocked.
      try await turns.withLock(true, until: .now(plus: patience), failing: failure) {
        () async throws(SecureStorageError) in
        if try await base.isCommonCollection() {
          throw SecureStorageError(
            .invalidArgument, operation: operation, backend: backendName,
            message: "A collection that every program uses cannot be locked after each use.",
            advice: "Use a collection of its own, with a label.", argument: "collection")
        }
        // Locked before as well: somebody else may have unlocked it, and the user is to be asked.
        try await base.lock()
        let outcome = await Swift.Result { () async throws(SecureStorageError) in try await body() }
        // Also when the task was cancelled: that ends the wait for the user, not the protection.
        try await withoutCancellation { [base] in
          await Swift.Result { () async throws(SecureStorageError) in try await base.lock() }
        }.get()
        return try outcome.get()
      }
    }
  }
}
