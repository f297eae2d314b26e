// SPDX-License-Identifier: Apache-2.0

/// A type that stores secrets, for example in a keyring, in a file, or in memory for tests.
///
/// To write one, conform to ``BlockingStorage``, ``ImmediateStorage`` or ``AsynchronousStorage``, and
/// follow the rules that `StorageContract` in `KeyringTesting` checks.
///
/// ```swift
/// import Keyring
/// import KeyringStorage
///
/// let storage: any SecureStorage = InMemoryStorage()
/// try storage.setPassword("s3cret", for: .password(service: "org.example.app", account: "authToken"))
/// ```
public protocol SecureStorage: Sendable {
  /// The name of this kind of storage, as it appears in errors.
  ///
  /// The default is the name of the type.
  var backendName: String { get }

  /// The maximum size of a secret in bytes.
  ///
  /// Saving a larger secret throws `.invalidArgument`. The default is ``ItemLimits/secretBytes``.
  var secretByteLimit: Int { get }

  /// The promise of what survives the end of the storage's backend.
  ///
  /// The default is ``StorageDurability/afterRestart``.
  ///
  /// ```swift
  /// let durability = StorageDurability.temporary  // in memory
  /// ```
  var durability: StorageDurability { get }

  /// Whether all items that one call finds are of one moment.
  ///
  /// Two secrets that another program changes together, such as a login and its password, then never come from two
  /// versions. A storage that uses others promises it for the items of each of them. The default is `false`.
  var readsOneVersion: Bool { get }

  /// Stores an item under its key, so that at every moment there is either the old item or the new one.
  ///
  /// A part of `item` that is `nil` stays as it was: leave out `secret` to change only the label.
  ///
  /// ```swift
  /// try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .addOrReplace)
  /// ```
  ///
  /// - Parameters:
  ///   - item: The key, and the parts to store under it. A new item needs a secret.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists` or `.itemNotFound`, depending on `mode`; `.invalidArgument`, before
  ///   anything is stored; or another error of the storage.
  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError)

  /// Finds items, newest first.
  ///
  /// Each item has the parts that the query asks for. Keyrings keep times in whole seconds, so items that
  /// changed within the same second can be in any order.
  ///
  /// ```swift
  /// let query = ItemQuery.service("org.example.app", details: .metadata)
  /// for item in try storage.items(matching: query) { print(item.label ?? "") }
  /// ```
  ///
  /// - Parameter query: The conditions for the items, and the parts to fetch.
  /// - Returns: The items that were found, perhaps none.
  /// - Throws: The reason for a missing answer, such as `.locked`, `.userCanceled` or `.timedOut`.
  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem]

  /// Finds the item stored under a key.
  ///
  /// The default implementation finds it like any other item, with `items(matching:)`. Write your own for a
  /// storage that has a better way.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: The parts of the item to fetch.
  /// - Returns: The item, or `nil` for an absent one.
  /// - Throws: The error of the storage.
  func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem?

  /// Finds the secret stored under a key.
  ///
  /// The default finds the item with its secret. Write your own for a storage that has a better way.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The secret, or `nil` for an absent item.
  /// - Throws: The error of the storage.
  func secret(for key: ItemKey) throws(SecureStorageError) -> Secret?

  /// Finds the items stored under any number of keys.
  ///
  /// The default finds the items one after the other. Write your own for a storage that finds many items at
  /// little more than the cost of one.
  ///
  /// ```swift
  /// let items = try storage.items(for: [token, login], details: .secret)
  /// print(items[token]?.secret?.count ?? 0)
  /// ```
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: The parts of the items to fetch.
  /// - Returns: The items that were found, by key.
  /// - Throws: The errors of finding a single item.
  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem]

  /// Removes items permanently.
  ///
  /// A matching item that stays locked is an error, `.locked`: a removal that succeeds has removed all of
  /// them.
  ///
  /// ```swift
  /// let count = try storage.removeItems(matching: .service("org.example.app", kind: .password))
  /// ```
  ///
  /// - Parameter query: The conditions for the items. It must name a key, an attribute, or a label.
  /// - Returns: The number of items that were removed.
  /// - Throws: `.invalidArgument` for a query that names nothing, `.locked`, or another error of the storage.
  @discardableResult
  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int

  // The asynchronous overloads call these requirements. Their names differ from the names that apps call.
  // Otherwise, a blocking method could satisfy an asynchronous requirement.

  /// Stores an item under its key, suspending the task.
  ///
  /// ```swift
  /// try validate(item)
  /// try await server.store(item, mode: mode)
  /// ```
  ///
  /// - Parameters:
  ///   - item: The key, and the parts to store under it. A new item needs a secret.
  ///   - mode: The save mode.
  /// - Throws: The errors of the form that blocks, or `.canceled`. The item may have been stored by then.
  nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError)

  /// Finds items, newest first, suspending the task.
  ///
  /// ```swift
  /// try validate(query, for: .read)
  /// return try await server.find(query)
  /// ```
  ///
  /// - Parameter query: The conditions for the items, and the parts to fetch.
  /// - Returns: The items that were found, perhaps none.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem]

  /// Finds the items stored under keys, suspending the task.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: The parts of the items to fetch.
  /// - Returns: The items that were found, by key.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem]

  /// Removes items permanently, suspending the task.
  ///
  /// ```swift
  /// try validate(query, for: .remove)
  /// return try await server.remove(query)
  /// ```
  ///
  /// - Parameter query: The conditions for the items. It must name a key, an attribute, or a label.
  /// - Returns: The number of items that were removed.
  /// - Throws: The errors of the form that blocks, or `.canceled`. Items may have been removed by then.
  nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int

  /// Waits for the turn to change an item, suspending the task.
  ///
  /// Apps call `update` and `refresh` of a handle, which use it. The default implementation lets the callers of this
  /// process take turns. Write your own for a storage that several processes use.
  ///
  /// - Parameters:
  ///   - key: The key of the item, which doesn't need to exist.
  ///   - details: The details that ``ItemTurn/item()`` returns.
  ///   - timeout: The longest time to wait for those whose turn it is, or `nil` for half of the time that one operation
  ///     of the storage may take.
  /// - Returns: The turn.
  /// - Throws: `.timedOut`, which names the one whose turn it is; `.accessDenied` if there can't be turns;
  ///   `.readOnly`; `.canceled`; or another error of the storage.
  nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn

  /// Returns the name of the storage that has an item, suspending the task.
  ///
  /// The default implementation looks for the item, and returns the ``backendName``. Write your own for a
  /// storage that uses several others.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The name of the storage that the item is in, or `nil` for an absent item.
  /// - Throws: The error of the storage, or `.canceled`.
  nonisolated(nonsending) func originWithoutBlocking(
    of key: ItemKey
  ) async throws(SecureStorageError) -> String?

  /// Checks whether the storage works, and suggests what to do about each failure.
  ///
  /// The user isn't asked.
  ///
  /// The default reads from the storage, and with `writing` also writes to it. Write your own for a storage
  /// that asks the user at each use, or knows more about itself. An ``AsynchronousStorage`` implements
  /// ``diagnoseWithoutBlocking(writing:)`` instead.
  ///
  /// ```swift
  /// func diagnose(writing: Bool) -> StorageDiagnosis {
  ///   var diagnosis = StorageDiagnosis(of: backendName)
  ///   diagnosis.add("file", path)
  ///   if writing { diagnosis.probeWriting(in: self) }
  ///   return diagnosis
  /// }
  /// ```
  ///
  /// - Parameter writing: Whether the check stores an item, reads it, and removes it again. With `false`, it
  ///   changes nothing.
  /// - Returns: The findings.
  func diagnose(writing: Bool) -> StorageDiagnosis

  /// Checks whether the storage works, suspending the task.
  ///
  /// - Parameter writing: Whether the check stores an item, reads it, and removes it again. With `false`, it
  ///   changes nothing.
  /// - Returns: The findings.
  /// - Throws: `.canceled` in a cancelled task.
  nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis
}

extension SecureStorage {
  /// The name of the type.
  public var backendName: String { String(describing: Self.self) }

  /// The size that nearly every storage has room for.
  public var secretByteLimit: Int { ItemLimits.secretBytes }

  /// The promise of nearly every storage: what it has acknowledged survives a restart.
  public var durability: StorageDurability { .afterRestart }

  /// No promise: the default finds the items one after the other.
  public var readsOneVersion: Bool { false }

  /// Finds the items stored under keys, one after the other.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var items: [ItemKey: SecureItem] = [:]
    for key in keys { items[key] = try item(for: key, details: details) }
    return items
  }

  /// Finds the item stored under a key, with a query for that key.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try items(matching: .key(key, details: details)).first
  }

  /// Finds the item stored under a key, and returns its secret.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    guard let item = try item(for: key, details: .secret) else { return nil }
    return try ItemCoding.secret.value(of: item, from: backendName)
  }
}
