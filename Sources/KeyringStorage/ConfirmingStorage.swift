internal import Synchronization

/// A collection that the user confirms each use of: it is locked again after every operation, so
/// that the keyring asks for its password before the next.
///
/// ```swift
/// let vault = ConfirmingStorage(SecretServiceStorage(collection: .named("vault")))
/// ```
///
/// Copies take turns; make one of these for a collection, and share it. When a task is cancelled or
/// time is up while the keyring asks, its question stays, and who answers it then unlocks the
/// collection until the next operation.
///
/// It is meant for a collection of its own, whose items are few and precious. On the default
/// collection and the session's every operation is refused: locking those would lock every program's
/// items. What the keyring shows to the user is its own text; the Secret Service has no way to hand
/// it a reason.
public struct ConfirmingStorage<Base: CollectionStorage>: SecureStorage {
  private let base: Base
  private let lock = OneAtATime()

  /// Makes a storage that confirms.
  ///
  /// - Parameter base: The collection.
  public init(_ base: Base) {
    self.base = base
  }

  /// Stores an item under its key, once the user has unlocked the collection.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: What kept it from being stored, or the collection from being locked again.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try lockingAfterwards(.save) { () throws(SecureStorageError) in try base.save(item, mode) }
  }

  /// Finds items, once the user has unlocked the collection.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: Any reason for not knowing the answer, or for not locking the collection again.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try lockingAfterwards(.read) { () throws(SecureStorageError) in
      try base.items(matching: query)
    }
  }

  /// Finds the items stored under keys, once the user has unlocked the collection.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: Any reason for not knowing the answer, or for not locking the collection again.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try lockingAfterwards(.read) { () throws(SecureStorageError) in
      try base.items(for: keys, details: details)
    }
  }

  /// Removes items, once the user has unlocked the collection.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were removed.
  /// - Throws: What kept them from being removed, or the collection from being locked again.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try lockingAfterwards(.remove) { () throws(SecureStorageError) in
      try base.removeItems(matching: query)
    }
  }

  /// Finds out whether the collection could be used; nobody is asked to unlock it, and so nothing is
  /// written.
  ///
  /// - Parameter writing: Without effect.
  /// - Returns: What was found out about the collection, which is locked as a rule.
  public func diagnose(writing: Bool) -> StorageDiagnosis { base.diagnose() }

  private func lockingAfterwards<Result>(
    _ operation: SecureStorageError.Operation, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    if try base.isCommonCollection() {
      throw SecureStorageError(
        .invalidArgument, operation: operation, backend: backendName,
        message: "A collection that every program uses cannot be locked after each use.",
        advice: "Use a collection of its own, with a label.", argument: "collection")
    }
    return try lock.withLock { () throws(SecureStorageError) -> Result in
      // Locked before as well: somebody else may have unlocked it, and the user is to be asked.
      try base.lock()
      let outcome = Swift.Result { () throws(SecureStorageError) in try body() }
      // Also when the task was cancelled: that ends the wait for the user, not the protection.
      try CancellationSignal.$current.withValue(nil) {
        Swift.Result { () throws(SecureStorageError) in try base.lock() }
      }.get()
      return try outcome.get()
    }
  }
}

/// One operation at a time: another's would be done without asking while the first has unlocked.
private final class OneAtATime: Sendable {
  private let mutex = Mutex(())

  func withLock<Result>(
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try mutex.withLock { _ throws(SecureStorageError) in try body() }
  }
}
