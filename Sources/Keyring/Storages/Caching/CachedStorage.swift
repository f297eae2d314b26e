// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

/// A storage that caches what another storage finds or doesn't find under a key.
///
/// An item is cached up to the next reported change, and for at most a minute where changes can go unnoticed. Copies
/// share the cache, so create one:
///
/// ```swift
/// SecureStorageDefaults.storage = SecretServiceStorage().cached()
/// ```
public struct CachedStorage<Base: ObservableStorage>: AsynchronousStorage, ObservableStorage {
  let base: Base
  /// The time that the program has chosen for cached items, which may be an unlimited one, or `nil` for that of the
  /// wrapped storage.
  private let chosenLifetime: Duration??
  let cache = ItemCache()

  fileprivate init(_ base: Base, chosen lifetime: Duration??) {
    (self.base, chosenLifetime) = (base, lifetime)
  }

  /// The time for which an item is cached, or `nil` to cache it up to the next reported change.
  public var cacheLifetime: Duration? { chosenLifetime ?? base.cacheLifetime }

  /// The name of the wrapped storage.
  public var backendName: String { base.backendName }

  /// The limit of the wrapped storage.
  public var secretByteLimit: Int { base.secretByteLimit }

  /// The promise of the wrapped storage.
  public var durability: StorageDurability { base.durability }

  /// Whether the wrapped storage reads one version in each call.
  public var readsOneVersion: Bool { base.readsOneVersion }

  /// Removes everything from the cache.
  public func removeAll() {
    (base as? any ItemReportingStorage)?.forgetReportedItems()
    cache.forget(nil)
  }

  /// Stores an item under its key in the wrapped storage.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await cache.whileWriting(item.key, await base.save(item, mode: mode))
  }

  /// Returns the items that match a query.
  ///
  /// A query by key alone finds an item that was read before in the cache. All other queries go to the wrapped storage.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    guard let key = query.key, query.asksForKeyOnly, query.allowsUnlocking, query.limit == nil
    else {
      return try await base.items(matching: query)
    }
    return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
  }

  /// Returns the item stored under a key.
  ///
  /// An item that was read before comes from the cache, any other from the wrapped storage.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    if !isCanceled, let known = cache.find(key, details) {
      KeyringEvent.report(.cacheHit(backend: backendName))
      return known
    }
    return try items(for: [key], details: details)[key]
  }

  /// Returns the secret stored under a key.
  ///
  /// An item that was read before comes from the cache, any other from the wrapped storage.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    if !isCanceled, let known = cache.findSecret(key) {
      KeyringEvent.report(.cacheHit(backend: backendName))
      return known
    }
    guard let item = try item(for: key, details: .secret) else { return nil }
    return try ItemCoding.secret.value(of: item, from: backendName)
  }

  /// Returns the items stored under keys.
  ///
  /// Items that were read together come from the cache. Otherwise, a single call to the wrapped storage fetches all of
  /// them, so that they're of one version wherever that storage promises it.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try checkCancellation(.read)
    if let known = cache.findTogether(keys, details) {
      KeyringEvent.report(.cacheHit(backend: backendName))
      return known
    }
    KeyringEvent.report(.cacheMiss(backend: backendName))
    try await cache.observe(base, for: .read)
    let wanted = cache.detailsToFetch(keys, details)
    let found = try await cache.fetch(
      keys, wanted, for: cacheLifetime, await fetch(keys, wanted))
    return found.mapValues { $0.selecting(details) }
  }

  /// Returns an item that the wrapped storage has reported, or reads items.
  private func fetch(
    _ keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    // A reported item may be older than the lifetime of cached items. Reports of several items may be of several
    // versions, because the report of one item may be late.
    if cacheLifetime == nil, keys.count == 1, let reporting = base as? any ItemReportingStorage,
      let item = reporting.reportedItem(for: keys[0], details: details)
    {
      return [keys[0]: item]
    }
    return try await base.items(for: keys, details: details)
  }

  /// Removes the items that match a query from the wrapped storage.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await cache.whileWriting(query.key, await base.removeItems(matching: query))
  }

  /// Returns the name of the storage that has an item, without using the cache.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try await base.origin(of: key)
  }

  /// Finds out whether the wrapped storage works here, without using the cache.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await base.diagnose(writing: writing)
  }

  /// Observes the wrapped storage.
  ///
  /// When the observer is called with a change, the old item is no longer in the cache.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    // The cache needs an observation of everything, of which this one can be a part.
    try await cache.observe(base, for: .observe)
    return try await base.observeWithoutBlocking(query) { [weak cache] event in
      // This observer may be called before the cache's own one.
      cache?.forget(event)
      observer(event)
    }
  }

  /// Whether the call was cancelled.
  ///
  /// The read then isn't answered from the cache at once. The asynchronous operation throws the error.
  private var isCanceled: Bool { Cancellation.isCurrentCancelled }
}

extension CachedStorage: LockableStorage where Base: LockableStorage {
  /// Locks the wrapped storage and empties the cache.
  public func lockWithoutBlocking() async throws(SecureStorageError) {
    try await cache.whileWriting(nil, await base.lock())
  }

  /// Unlocks the wrapped storage.
  public func unlockWithoutBlocking() async throws(SecureStorageError) { try await base.unlock() }

  /// Returns `true` if the wrapped storage is locked.
  public func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await base.isLocked()
  }
}

extension CachedStorage: CollectionStorage where Base: CollectionStorage {
  /// Returns the collections of the wrapped storage.
  public func collectionsWithoutBlocking() async throws(SecureStorageError) -> [ItemCollection] {
    try await base.collections()
  }

  /// Returns the storage for a collection, with a cache of its own.
  public func collection(labeled label: String) -> CachedStorage {
    CachedStorage(base.collection(labeled: label), chosen: chosenLifetime)
  }

  /// Creates a collection, for which the keyring asks the user for a password.
  public func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> CachedStorage {
    let new = try await cache.whileWriting(nil, await base.createCollection(labeled: label))
    return CachedStorage(new, chosen: chosenLifetime)
  }

  /// Deletes a collection and all of its items permanently.
  public func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    try await cache.whileWriting(nil, await base.deleteCollection(labeled: label))
  }

  /// Returns `true` if every program uses this collection.
  ///
  /// The default collection and the session collection are such collections.
  public func isSharedCollectionWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await base.isSharedCollection()
  }
}

extension CachedStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the wrapped storage and the time for which items are cached, without any cached item.
  public var description: String {
    "CachedStorage(\(backendName)\(cacheLifetime.map { ", for \($0)" } ?? ""))"
  }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ObservableStorage {
  /// Returns this storage with a cache for reads by key.
  ///
  /// An item is cached up to the next reported change. Where the storage may miss a change, that is a minute at most.
  ///
  /// ```swift
  /// SecureStorageDefaults.storage = SecretServiceStorage().cached()
  /// ```
  ///
  /// - Returns: The cached storage. Create one and share it.
  public func cached() -> CachedStorage<Self> { CachedStorage(self, chosen: nil) }

  /// Returns this storage with a cache for reads by key.
  ///
  /// ```swift
  /// SecureStorageDefaults.storage = SecretServiceStorage().cached(for: .seconds(5))
  /// ```
  ///
  /// - Parameter lifetime: The time for which an item is cached, or `nil` to cache it up to the next reported change.
  /// - Returns: The cached storage. Create one and share it.
  public func cached(for lifetime: Duration?) -> CachedStorage<Self> {
    CachedStorage(self, chosen: .some(lifetime))
  }
}
