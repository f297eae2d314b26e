internal import Synchronization

/// A storage in front of another that keeps what reads by key have found, or not found, so that the
/// next read costs next to nothing.
///
/// What it keeps is never older than what the wrapped storage has told of: a write through this
/// process is seen by every read that begins after it, another process's when the storage learns of
/// it. A lock or a lost connection empties the cache, and until the connection is back every read goes
/// through. Errors are not kept, and queries by anything but the key go through as well.
///
/// Copies are the same cache; make one, and share it:
///
/// ```swift
/// SecureStorageDefaults.storage = SecretServiceStorage().cached()
/// ```
///
/// Secrets are kept as ``Secret``, and stay in memory for as long as they are kept.
public struct CachedStorage<Base: ObservableStorage>: AsynchronousStorage, ObservableStorage {
  private let base: Base
  private let lifetime: Duration?
  private let cache: ItemCache

  /// Puts an empty cache in front of a storage.
  ///
  /// - Parameters:
  ///   - base: The storage; it is observed from the first read by key on.
  ///   - lifetime: How long what was read is kept; `nil` for as long as it holds.
  public init(_ base: Base, for lifetime: Duration? = nil) {
    (self.base, self.lifetime) = (base, lifetime)
    cache = ItemCache(lifetime)
  }

  /// The name of the wrapped storage.
  public var backendName: String { base.backendName }

  /// Forgets everything that was read.
  public func forgetAll() { cache.forget(nil) }

  /// Stores an item under its key, in the wrapped storage.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: The errors of the wrapped storage.
  public func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try await cache.whileWriting(item.key) { () async throws(SecureStorageError) in
      try await base.save(item, mode)
    }
  }

  /// Finds items: by a key alone in the cache, if it was read before, and else in the wrapped storage.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: The errors of the wrapped storage.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    guard let key = query.key, query.asksForKeyOnly, query.unlocks, query.limit == nil else {
      return try await base.items(matching: query)
    }
    return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
  }

  /// Finds the item stored under a key: in the cache, if it was read before, and else in the storage
  /// behind.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: The errors of the wrapped storage.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    if !isCanceled, let known = cache.find(key, details) { return known }
    return try items(for: [key], details: details)[key]
  }

  /// Finds the secret stored under a key: in the cache, if it was read before, and else in the storage
  /// behind.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The secret, or `nil` when there is no item.
  /// - Throws: The errors of the wrapped storage.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    if !isCanceled, let known = cache.findSecret(key) { return known }
    return try secretOfItem(for: key)
  }

  /// Finds the items stored under keys: those that were read before in the cache, the others at once
  /// in the wrapped storage.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of the wrapped storage.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try checkCancellation(.read)
    var items: [ItemKey: SecureItem] = [:]
    var missing: [ItemKey] = []
    for key in keys {
      if let known = cache.find(key, details) { items[key] = known } else { missing.append(key) }
    }
    if missing.isEmpty { return items }
    try await cache.observe(base)
    let wanted = cache.detailsToFetch(missing, details)
    let found = try await cache.fetch(missing, wanted) { () async throws(SecureStorageError) in
      try await base.items(for: missing, details: wanted)
    }
    return items.merging(found.mapValues { $0.limited(to: details) }) { $1 }
  }

  /// Removes items, in the wrapped storage.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: The errors of the wrapped storage.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await cache.whileWriting(query.key) { () async throws(SecureStorageError) in
      try await base.removeItems(matching: query)
    }
  }

  /// Finds out whether the wrapped storage works here; what was read before says nothing of that.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis { base.diagnose(writing: writing) }

  /// Finds out whether the wrapped storage works here; what was read before says nothing of that.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works.
  /// - Returns: The findings.
  /// - Throws: `.canceled` if the task is cancelled.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await base.diagnose(writing: writing)
  }

  /// Observes the wrapped storage; whoever is told of a change does not find the old value here.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: What to call with every event.
  /// - Returns: A token that ends the observation.
  /// - Throws: The errors of the wrapped storage.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try base.observe(query, forgetting(observer))
  }

  /// Observes the wrapped storage; whoever is told of a change does not find the old value here.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: What to call with every event.
  /// - Returns: A token that ends the observation.
  /// - Throws: The errors of the wrapped storage.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    try await base.observeWithoutBlocking(query, forgetting(observer))
  }

  private func forgetting(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> @Sendable (StorageEvent) -> Void {
    { [weak cache] event in
      // Whichever of the two observers is called first.
      cache?.forget(event)
      observer(event)
    }
  }

  /// A cancelled call is the storage's to refuse.
  private var isCanceled: Bool { CancellationSignal.isCurrentCancelled }
}

extension CachedStorage: LockableStorage where Base: LockableStorage {
  /// Locks the wrapped storage, and forgets what was read.
  ///
  /// - Throws: The errors of the wrapped storage.
  public func lock() throws(SecureStorageError) {
    try cache.whileWriting(nil) { () throws(SecureStorageError) in try base.lock() }
  }

  /// Unlocks the wrapped storage.
  ///
  /// - Throws: The errors of the wrapped storage.
  public func unlock() throws(SecureStorageError) { try base.unlock() }

  /// Tells whether the wrapped storage is locked.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: The errors of the wrapped storage.
  public func isLocked() throws(SecureStorageError) -> Bool { try base.isLocked() }
}

extension CachedStorage: CollectionStorage where Base: CollectionStorage {
  /// Lists the collections.
  ///
  /// - Returns: The collections.
  /// - Throws: The errors of the wrapped storage.
  public func collections() throws(SecureStorageError) -> [ItemCollection] {
    try base.collections()
  }

  /// The storage for a collection, with a cache of its own.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage.
  public func collection(labeled label: String) -> CachedStorage {
    CachedStorage(base.collection(labeled: label), for: lifetime)
  }

  /// Makes a collection; the keyring asks the user for its password.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it, with a cache of its own.
  /// - Throws: The errors of the wrapped storage.
  @discardableResult
  public func createCollection(labeled label: String) throws(SecureStorageError) -> CachedStorage {
    let new = try cache.whileWriting(nil) { () throws(SecureStorageError) in
      try base.createCollection(labeled: label)
    }
    return CachedStorage(new, for: lifetime)
  }

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  /// - Throws: The errors of the wrapped storage.
  @discardableResult
  public func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool {
    try cache.whileWriting(nil) { () throws(SecureStorageError) in
      try base.deleteCollection(labeled: label)
    }
  }

  /// Tells whether every program uses this collection: the default one, or the session's.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: The errors of the wrapped storage.
  public func isCommonCollection() throws(SecureStorageError) -> Bool {
    try base.isCommonCollection()
  }
}

extension CachedStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the wrapped storage; never what is kept.
  public var description: String { "CachedStorage(\(backendName))" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ObservableStorage {
  /// The storage with a cache in front of it, for reads by key.
  ///
  /// - Parameter lifetime: How long what was read is kept; `nil` for as long as it holds.
  /// - Returns: The cache; make one, and share it.
  public func cached(for lifetime: Duration? = nil) -> CachedStorage<Self> {
    CachedStorage(self, for: lifetime)
  }
}
