/// A place where secrets are kept: a keyring, the memory of a test, a file.
///
/// The protocol is small on purpose: everything an app calls is an extension over a few operations. Each has
/// two forms, one that blocks its thread and one that suspends its task. You write a storage in the form that
/// is natural to it, and one of three refining protocols adds the other form:
///
/// - ``BlockingStorage`` for one that waits by blocking its thread.
/// - ``ImmediateStorage`` for one that never waits for long.
/// - ``AsynchronousStorage`` for one that is written with `async` and `await`.
///
/// Whoever writes a storage keeps the rules that `StorageContract` of the module `KeyringTesting` checks one
/// by one. The first of them is that a missing item is an empty result, and every other reason for not
/// having it is an error. You need for them: ``validate(_:)``, ``secretOfNewItem(_:)``,
/// ``ItemQuery/matches(_:)``, ``SecureItem/limited(to:)``, ``ItemKey/defaultLabel`` and
/// ``CancellationSignal``.
///
/// ```swift
/// let storage: any SecureStorage = InMemoryStorage()
/// try storage.setPassword("s3cret", for: .password(service: "org.example.app", account: "authToken"))
/// ```
public protocol SecureStorage: Sendable {
  /// The name of this kind of storage, as errors give it. By default the name of the type.
  var backendName: String { get }

  /// Stores an item under its key, atomically: at every moment the old or the new item is there.
  ///
  /// What is `nil` in `item` stays as it is in the item already stored: with `secret` left out, a
  /// label changes without the secret being read or rewritten.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it. A new item needs a secret.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists` and `.itemNotFound` as `mode` has it, `.invalidArgument` before
  ///   anything was stored, or whatever kept the storage from doing it.
  func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError)

  /// Finds items, newest first, with as much of each as the query asks for.
  ///
  /// Keyrings keep times in whole seconds. Items that were changed within the same second come in any order.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found; empty when there are none.
  /// - Throws: Any reason for not knowing the answer: locked, dismissed, unreachable.
  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem]

  /// Finds the item stored under a key.
  ///
  /// A storage that has no better way leaves this out; then it is found as any other item.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem?

  /// Finds the secret stored under a key: what a read of every property but a credential comes to.
  ///
  /// A storage that has no better way leaves this out; then the item is found with its secret.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The secret, or `nil` when there is no item.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func secret(for key: ItemKey) throws(SecureStorageError) -> Secret?

  /// Finds the items stored under keys, as many as there are, at the cost of little more than one.
  ///
  /// A storage that has no better way leaves this out; then they are found one after the other.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of finding one of them.
  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem]

  /// Removes items for good.
  ///
  /// - Parameter query: Which items. One that names nothing is refused.
  /// - Returns: How many items were removed; 0 when there were none.
  /// - Throws: `.invalidArgument` for a query that names nothing, `.locked` rather than a quiet
  ///   success, or whatever kept the storage from doing it.
  @discardableResult
  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int

  // What `await` leads to. The names differ from those that apps call: a method that blocks would else stand
  // for one that doesn't.

  /// Stores an item under its key, and suspends its task while it waits.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it. A new item needs a secret.
  ///   - mode: The save mode.
  /// - Throws: The same errors as the operation that blocks, or `.canceled` if the task is cancelled; the
  ///   item may already have been stored.
  nonisolated(nonsending) func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError)

  /// Finds items, newest first, and suspends its task while it waits.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found; empty when there are none.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem]

  /// Finds the items stored under keys, and suspends its task while it waits.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem]

  /// Removes items for good, and suspends its task while it waits.
  ///
  /// - Parameter query: Which items. One that names nothing is refused.
  /// - Returns: The number of items that were removed.
  /// - Throws: The same errors as the operation that blocks, or `.canceled` if the task is cancelled; items
  ///   may already have been removed.
  nonisolated(nonsending) func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int

  /// Finds out whether the storage works here, and what to do if it does not: what saving an item would
  /// need is looked at, without asking anybody, and in bounded time.
  ///
  /// A storage that leaves this out is read, and written if that is asked for. One that asks the user
  /// at each use, or knows more of its place than that it fails, does it itself.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works;
  ///   otherwise nothing is changed.
  /// - Returns: The findings.
  func diagnose(writing: Bool) -> StorageDiagnosis

  /// Finds out whether the storage works here, and suspends its task while it waits.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works.
  /// - Returns: The findings.
  /// - Throws: `.canceled` if the task is cancelled.
  nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis
}

extension SecureStorage {
  /// The name of the type.
  public var backendName: String { String(describing: Self.self) }

  /// Finds the items stored under keys, one after the other.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of finding one of them.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var items: [ItemKey: SecureItem] = [:]
    for key in keys { items[key] = try item(for: key, details: details) }
    return items
  }

  /// Tells whether an item is stored under a key, without fetching its secret.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: Whether there is such an item.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func exists(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try item(for: key, details: []) != nil
  }

  /// Finds the item stored under a key.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try items(matching: .key(key, details: details)).first
  }

  /// Finds the item stored under a key, with everything there is to know of it.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func item(for key: ItemKey) throws(SecureStorageError) -> SecureItem? {
    try item(for: key, details: .all)
  }

  /// Removes the item stored under a key.
  ///
  /// The Secret Service has items of other programs, too. One of the same names is found under the key
  /// while none of this package's is there. So a read may find it after a removal, and another removal
  /// takes it.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: `true` if there was one.
  /// - Throws: Whatever kept the storage from removing it.
  @discardableResult
  public func remove(_ key: ItemKey) throws(SecureStorageError) -> Bool {
    try removeItems(matching: .key(key)) > 0
  }
}

/// What saving does about an item that is, or is not, there already.
public enum SaveMode: Sendable, Hashable {
  /// Stores a new item; throws `.itemAlreadyExists` when there is one.
  ///
  /// It never replaces an item. A storage that several processes share may have no atomic "create if
  /// absent". It then takes its own item back where it meets another one, so of two processes that add
  /// the same key at the same moment one succeeds, or none.
  case add
  /// Changes the item that is there; throws `.itemNotFound` when there is none.
  case update
  /// Stores the item whether or not there was one.
  case addOrReplace
}
