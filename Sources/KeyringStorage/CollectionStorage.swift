/// A storage that is one of several collections, which other systems call keychains.
///
/// Each has a label of its own, is locked and unlocked by itself, and knows nothing of the items of
/// the others.
public protocol CollectionStorage: LockableStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func collections() throws(SecureStorageError) -> [ItemCollection]

  /// The storage for a collection, whether or not there is one with that label.
  ///
  /// Without one there are no items to be found, and saving throws `.collectionNotFound`.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage.
  func collection(labeled label: String) -> Self

  /// Makes a collection; the keyring asks the user for its password.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it.
  /// - Throws: `.collectionAlreadyExists` when there is one with that label, `.userCanceled` when
  ///   the user declined.
  @discardableResult
  func createCollection(labeled label: String) throws(SecureStorageError) -> Self

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if it can't be deleted.
  @discardableResult
  func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool

  /// Tells whether every program uses this collection: the default one, or the session's.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func isCommonCollection() throws(SecureStorageError) -> Bool

  // What `await` leads to, by default on a thread of the library's own.

  /// Returns the collections, and suspends its task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func collectionsWithoutBlocking() async throws(SecureStorageError)
    -> [ItemCollection]

  /// Creates a collection, and suspends its task while it waits.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func createCollectionWithoutBlocking(labeled label: String)
    async throws(SecureStorageError) -> Self

  /// Deletes a collection and all its items for good, and suspends its task while it waits.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func deleteCollectionWithoutBlocking(labeled label: String)
    async throws(SecureStorageError) -> Bool

  /// Returns whether every program uses this collection, and suspends its task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func isCommonCollectionWithoutBlocking() async throws(SecureStorageError)
    -> Bool
}

/// What is known of a collection.
public struct ItemCollection: Sendable, Hashable {
  /// Its name, for people and programs.
  public var label: String
  /// Whether its items are locked.
  public var isLocked: Bool
  /// Whether it is the one that the user's keyring uses by default.
  public var isDefault: Bool

  /// Describes a collection.
  ///
  /// - Parameters:
  ///   - label: Its name.
  ///   - isLocked: Whether its items are locked.
  ///   - isDefault: Whether it is the one used by default.
  public init(label: String, isLocked: Bool, isDefault: Bool) {
    self.label = label
    self.isLocked = isLocked
    self.isDefault = isDefault
  }
}

// The asynchronous overloads.
extension CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func collections() async throws(SecureStorageError)
    -> [ItemCollection]
  {
    try await collectionsWithoutBlocking()
  }

  /// Makes a collection; the keyring asks the user for its password.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it.
  /// - Throws: What the synchronous operation throws, and `.canceled`, made or not.
  @discardableResult
  public nonisolated(nonsending) func createCollection(labeled label: String)
    async throws(SecureStorageError) -> Self
  {
    try await createCollectionWithoutBlocking(labeled: label)
  }

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  /// - Throws: What the synchronous operation throws, and `.canceled`, deleted or not.
  @discardableResult
  public nonisolated(nonsending) func deleteCollection(labeled label: String)
    async throws(SecureStorageError) -> Bool
  {
    try await deleteCollectionWithoutBlocking(labeled: label)
  }

  /// Tells whether every program uses this collection: the default one, or the session's.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func isCommonCollection() async throws(SecureStorageError) -> Bool
  {
    try await isCommonCollectionWithoutBlocking()
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func collectionsWithoutBlocking() async throws(SecureStorageError)
    -> [ItemCollection]
  {
    try await blocking(.read) { () throws(SecureStorageError) in try collections() }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Self {
    try await blocking(.createCollection) { () throws(SecureStorageError) in
      try createCollection(labeled: label)
    }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    try await blocking(.deleteCollection) { () throws(SecureStorageError) in
      try deleteCollection(labeled: label)
    }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func isCommonCollectionWithoutBlocking()
    async throws(SecureStorageError) -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isCommonCollection() }
  }
}
