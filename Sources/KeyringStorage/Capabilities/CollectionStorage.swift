// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A storage that is one of several collections, which other systems call keychains.
///
/// Each collection has its own label and its own items. You lock and unlock each collection separately.
///
/// Write each operation in the form in which you write the storage. It gets the other form.
///
/// ```swift
/// let work = try keyring.createCollection(labeled: "Work")
/// try work.setPassword("s3cret", for: .password(service: "org.example.app", account: "me"))
/// ```
public protocol CollectionStorage: LockableStorage {
  /// Lists the collections.
  ///
  /// ```swift
  /// for collection in try keyring.collections() { print(collection.label, collection.isLocked) }
  /// ```
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: The error of the storage.
  func collections() throws(SecureStorageError) -> [ItemCollection]

  /// Returns the storage for a collection, present or not.
  ///
  /// In a missing collection, saving, locking and unlocking throw `.collectionNotFound`, and reading finds
  /// nothing. From a keyring that shows only some of its collections, reading throws the error, too.
  ///
  /// ```swift
  /// let password = try keyring.collection(labeled: "Work").password(for: key)
  /// ```
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for the collection.
  func collection(labeled label: String) -> Self

  /// Creates a collection.
  ///
  /// The keyring prompts the user for the password of the collection.
  ///
  /// ```swift
  /// let work = try keyring.createCollection(labeled: "Work")
  /// ```
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for the collection.
  /// - Throws: `.collectionAlreadyExists` for a label in use, or `.userCanceled`.
  @discardableResult
  func createCollection(labeled label: String) throws(SecureStorageError) -> Self

  /// Deletes a collection and all of its items permanently.
  ///
  /// ```swift
  /// let wasThere = try keyring.deleteCollection(labeled: "Work")
  /// ```
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` for a collection that was there.
  /// - Throws: The error of the storage.
  @discardableResult
  func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool

  /// Returns `true` for a collection that every program uses.
  ///
  /// Every program uses the default collection and the session collection.
  ///
  /// - Returns: `true` for a shared collection.
  /// - Throws: The error of the storage.
  func isSharedCollection() throws(SecureStorageError) -> Bool

  // The asynchronous overloads call these requirements.

  /// Lists the collections, suspending the task.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func collectionsWithoutBlocking() async throws(SecureStorageError)
    -> [ItemCollection]

  /// Creates a collection, suspending the task.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for the collection.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The collection may have been created by
  ///   then.
  nonisolated(nonsending) func createCollectionWithoutBlocking(labeled label: String)
    async throws(SecureStorageError) -> Self

  /// Deletes a collection and all of its items permanently, suspending the task.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` for a collection that was there.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The collection may have been deleted by
  ///   then.
  nonisolated(nonsending) func deleteCollectionWithoutBlocking(labeled label: String)
    async throws(SecureStorageError) -> Bool

  /// Returns `true` for a collection that every program uses, suspending the task.
  ///
  /// - Returns: `true` for a shared collection.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func isSharedCollectionWithoutBlocking() async throws(SecureStorageError)
    -> Bool
}

// Asynchronous overloads of the operations.
extension CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which the keyring lists them.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func collections() async throws(SecureStorageError)
    -> [ItemCollection]
  {
    try await collectionsWithoutBlocking()
  }

  /// Creates a collection.
  ///
  /// The keyring prompts the user for the password of the collection.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for the collection.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The collection may have been created by
  ///   then.
  @discardableResult
  public nonisolated(nonsending) func createCollection(labeled label: String)
    async throws(SecureStorageError) -> Self
  {
    try await createCollectionWithoutBlocking(labeled: label)
  }

  /// Deletes a collection and all of its items permanently.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` for a collection that was there.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The collection may have been deleted by
  ///   then.
  @discardableResult
  public nonisolated(nonsending) func deleteCollection(labeled label: String)
    async throws(SecureStorageError) -> Bool
  {
    try await deleteCollectionWithoutBlocking(labeled: label)
  }

  /// Returns `true` for a collection that every program uses.
  ///
  /// Every program uses the default collection and the session collection.
  ///
  /// - Returns: `true` for a shared collection.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func isSharedCollection() async throws(SecureStorageError) -> Bool
  {
    try await isSharedCollectionWithoutBlocking()
  }
}

// The form of the operations that a storage doesn't write.

extension AsynchronousStorage where Self: CollectionStorage {
  /// Runs the asynchronous operation to its end on this thread.
  public func collections() throws(SecureStorageError) -> [ItemCollection] {
    try ThreadExecutor.runToEnd(collectionsWithoutBlocking)
  }

  /// Runs the asynchronous operation to its end on this thread.
  @discardableResult
  public func createCollection(labeled label: String) throws(SecureStorageError) -> Self {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await createCollectionWithoutBlocking(labeled: label)
    }
  }

  /// Runs the asynchronous operation to its end on this thread.
  @discardableResult
  public func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await deleteCollectionWithoutBlocking(labeled: label)
    }
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func isSharedCollection() throws(SecureStorageError) -> Bool {
    try ThreadExecutor.runToEnd(isSharedCollectionWithoutBlocking)
  }
}

extension SynchronousStorage where Self: CollectionStorage {
  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func collectionsWithoutBlocking() async throws(SecureStorageError)
    -> [ItemCollection]
  {
    try await blocking(.read) { () throws(SecureStorageError) in try collections() }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Self {
    try await blocking(.createCollection) { () throws(SecureStorageError) in
      try createCollection(labeled: label)
    }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    try await blocking(.deleteCollection) { () throws(SecureStorageError) in
      try deleteCollection(labeled: label)
    }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func isSharedCollectionWithoutBlocking()
    async throws(SecureStorageError) -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isSharedCollection() }
  }
}
