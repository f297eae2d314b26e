// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

/// A storage in memory for tests, previews and dry runs, which loses its items when it's released.
///
/// You can lock it to see how an app reacts. Copies are the same storage.
///
/// ```swift
/// withSecureStorage(InMemoryStorage()) {
///   settings.authToken = "s3cret"
/// }
/// ```
public struct InMemoryStorage: ImmediateStorage, CollectionStorage, ObservableStorage {
  private struct Entry {
    var item: SecureItem
    /// The number of the write, because two writes may have the same time.
    var revision: UInt64

    /// Creates the entry of a new item.
    init(_ new: SecureItem, revision: UInt64) {
      item = new
      item.label = new.label ?? new.key.defaultLabel
      item.attributes = new.attributes ?? [:]
      item.isLocked = nil
      item.created = Date()
      item.modified = item.created
      self.revision = revision
    }

    /// Replaces the parts of the item that another one has.
    mutating func save(_ new: SecureItem, revision: UInt64) {
      if let secret = new.secret { item.secret = secret }
      if let label = new.label { item.label = label }
      if let attributes = new.attributes { item.attributes?.merge(attributes) { $1 } }
      item.modified = Date()
      self.revision = revision
    }
  }

  private struct Items {
    /// Whether the collection exists.
    var isMade = false
    var entries: [ItemKey: Entry] = [:]
    var revision: UInt64 = 0
    var isLocked = false

    func items(matching query: ItemQuery) -> [SecureItem] {
      if let key = query.key {
        return entries[key].map { query.matches($0.item) ? [found($0.item)] : [] } ?? []
      }
      let entries = entries.values.filter { query.matches($0.item) }
      return entries.map { Double($0.revision) }.indicesFromLargest
        .prefix(query.limit ?? .max)
        .map { found(entries[$0].item) }
    }

    private func found(_ item: SecureItem) -> SecureItem {
      var item = item
      item.isLocked = isLocked
      if isLocked { item.secret = nil }
      return item
    }
  }

  /// A collection, or just the observers of one that doesn't exist.
  private final class Collection: Sendable {
    let label: String
    let items = Mutex(Items())
    let observers = ObserverList()
    let turns = KeyQueue()

    init(_ label: String) { self.label = label }
  }

  /// The collections that several storages share.
  ///
  /// Each label that was ever used has an entry. The existing collections are in the order of their
  /// creation.
  private final class Collections: Sendable {
    let all = Mutex<[Collection]>([])

    func collection(labeled label: String) -> Collection {
      all.withLock { all in
        if let known = all.first(where: { $0.label.hasSameBytes(label) }) { return known }
        let new = Collection(label)
        all.append(new)
        return new
      }
    }

    /// Creates the collection, or returns `false` if it already exists.
    func create(_ collection: Collection) -> Bool {
      all.withLock { all in
        let isNew = !collection.items.withLock { exchange(&$0.isMade, with: true) }
        if isNew {
          all.removeAll { $0 === collection }
          all.append(collection)
        }
        return isNew
      }
    }
  }

  /// One of the shared collections.
  ///
  /// It's an object, so that copying the storage is cheap.
  private final class Place: Sendable {
    let collections: Collections
    let collection: Collection

    init(_ collections: Collections, _ label: String) {
      self.collections = collections
      collection = collections.collection(labeled: label)
    }
  }

  private static let defaultLabel = "default"

  private let place: Place
  private var collection: Collection { place.collection }

  /// Creates an empty storage that has only a default collection.
  ///
  /// ```swift
  /// let storage = InMemoryStorage()
  /// try storage.service("org.example.app").password("me").write("s3cret")
  /// ```
  public init() {
    self.init(Collections(), label: Self.defaultLabel)
    _ = place.collections.create(collection)
  }

  private init(_ shared: Collections, label: String) { place = Place(shared, label) }

  /// No promise: the items are in memory.
  public var durability: StorageDurability { .temporary }

  /// The promise for the items of one collection.
  public var readsOneVersion: Bool { true }

  /// Stores an item under its key.
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, `.invalidArgument`, `.collectionNotFound` or
  ///   `.locked`.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    defer { collection.observers.deliver() }
    let isSaved: Void? = try withUnlockedItems(.save) {
      (stored: inout Items) throws(SecureStorageError) in
      try save(item, mode: mode, in: &stored)
    }
    if isSaved == nil { throw error(.collectionNotFound, during: .save) }
  }

  private func save(
    _ item: SecureItem, mode: SaveMode, in stored: inout Items
  ) throws(SecureStorageError) {
    let index = stored.entries.index(forKey: item.key)
    if mode == .add, index != nil { throw error(.itemAlreadyExists, during: .save) }
    if mode == .update, index == nil { throw error(.itemNotFound, during: .save) }
    if index == nil { _ = try requireSecret(item) }
    stored.revision += 1
    if let index {
      stored.entries.values[index].save(item, revision: stored.revision)
      collection.observers.collect(.changed(.replaced(item.key)))
    } else {
      stored.entries[item.key] = Entry(item, revision: stored.revision)
      collection.observers.collect(.changed(.created(item.key)))
    }
  }

  /// Returns the items that match a query, newest first.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try withItems(.read) { (items: inout Items) throws(SecureStorageError) in
      if items.isLocked, query.allowsUnlocking { throw error(.locked, during: .read) }
      return items.items(matching: query).map { $0.selecting(query.details) }
    } ?? []
  }

  /// Returns the items stored under keys.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(key, for: .read) }
    return try withUnlockedItems(.read) { items in
      var found: [ItemKey: SecureItem] = [:]
      for key in keys { found[key] = items.items(matching: .key(key)).first?.selecting(details) }
      return found
    } ?? [:]
  }

  /// Returns the secret stored under a key.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    try validate(key, for: .read)
    return try withUnlockedItems(.read) { items in
      items.entries.withValue(for: key) { $0.item.secret } ?? nil
    } ?? nil
  }

  /// Removes the items that match a query.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { collection.observers.deliver() }
    return try withUnlockedItems(.remove) { stored in
      let items = stored.items(matching: query)
      for item in items { remove(item.key, from: &stored) }
      return items.count
    } ?? 0
  }

  private func remove(_ key: ItemKey, from stored: inout Items) {
    stored.entries[key] = nil
    collection.observers.collect(.changed(.removed(key)))
  }

  // MARK: - Turns

  /// Waits for a turn among the tasks and threads of the process.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    try await join(
      collection.turns, key, until: .now(plus: timeout ?? Self.ordinaryTurnTimeout))
    return Turn(storage: self, key: key, details: details)
  }

  private struct Turn: ItemTurn {
    let storage: InMemoryStorage
    let key: ItemKey
    let details: ItemQuery.Details

    func item() throws(SecureStorageError) -> SecureItem? {
      try storage.items(for: [key], details: details)[key]
    }

    func save(_ item: SecureItem?, replacing old: SecureItem?) throws(SecureStorageError) -> Bool {
      if let item { try storage.validate(item) }
      defer { storage.collection.observers.deliver() }
      let isSaved = try storage.withUnlockedItems(.save) {
        (stored: inout Items) throws(SecureStorageError) in
        let current = stored.items(matching: .key(key)).first?.selecting(details)
        guard current.hasSameContent(as: old) else { return false }
        if let item {
          try storage.save(item, mode: .addOrReplace, in: &stored)
        } else if current != nil {
          storage.remove(key, from: &stored)
        }
        return true
      }
      if let isSaved { return isSaved }
      throw storage.error(.collectionNotFound, during: .save)
    }

    func end() { storage.collection.turns.leave(key) }
  }

  // MARK: - Locking

  /// Locks the collection, so that operations throw `.locked` until it's unlocked.
  ///
  /// ```swift
  /// try storage.lock()
  /// let token = withSecureStorage(storage) { settings.authToken }  // nil
  /// ```
  ///
  /// - Throws: `.collectionNotFound` for a missing collection.
  public func lock() throws(SecureStorageError) {
    defer { collection.observers.deliver() }
    try withExistingItems(.lock) { items in
      items.isLocked = true
      collection.observers.collect(.locked)
    }
  }

  /// Unlocks the collection without a prompt.
  public func unlock() throws(SecureStorageError) {
    try withExistingItems(.unlock) { $0.isLocked = false }
  }

  /// Returns `true` if the collection is locked.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try withExistingItems(.read) { $0.isLocked }
  }

  // MARK: - Collections

  /// Returns the collections, in the order of their creation.
  public func collections() -> [ItemCollection] {
    place.collections.all.withLock { all in
      all.compactMap { collection in
        collection.items.withLock { items in
          guard items.isMade else { return nil }
          return ItemCollection(
            label: collection.label, isLocked: items.isLocked,
            isDefault: collection.label == Self.defaultLabel)
        }
      }
    }
  }

  /// Returns the storage for a collection, which doesn't need to exist.
  public func collection(labeled label: String) -> InMemoryStorage {
    InMemoryStorage(place.collections, label: label)
  }

  /// Creates an empty, unlocked collection.
  @discardableResult
  public func createCollection(
    labeled label: String
  ) throws(SecureStorageError) -> InMemoryStorage {
    try validate(collectionLabel: label, for: .createCollection)
    let storage = collection(labeled: label)
    if place.collections.create(storage.collection) { return storage }
    throw error(.collectionAlreadyExists, during: .createCollection)
  }

  /// Deletes a collection and all of its items permanently.
  @discardableResult
  public func deleteCollection(labeled label: String) -> Bool {
    let collection = place.collections.collection(labeled: label)
    defer { collection.observers.deliver() }
    return collection.items.withLock { items in
      for key in items.entries.keys { collection.observers.collect(.changed(.removed(key))) }
      return exchange(&items, with: Items()).isMade
    }
  }

  /// Returns `true` if this is the default collection.
  public func isSharedCollection() -> Bool { collection.label == Self.defaultLabel }

  // MARK: - Observation

  /// Calls a closure with every change of the collection, or of one item.
  ///
  /// - Parameters:
  ///   - query: The items. If it has a key, only the changes of that item are reported. Otherwise, all are.
  ///   - observer: The closure to call.
  /// - Returns: The subscription.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    collection.observers.add(observer, matching: query)
  }

  // MARK: - State

  private func withUnlockedItems<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout Items) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result? {
    try withItems(operation) { (items: inout Items) throws(SecureStorageError) -> Result in
      if items.isLocked { throw error(.locked, during: operation) }
      return try body(&items)
    }
  }

  private func withExistingItems<Result>(
    _ operation: SecureStorageError.Operation, _ body: (inout Items) -> Result
  ) throws(SecureStorageError) -> Result {
    if let result = try withItems(operation, body) { return result }
    throw error(.collectionNotFound, during: operation)
  }

  /// Runs a closure on the collection, or returns `nil` for a missing one.
  private func withItems<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout Items) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result? {
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: operation) }
    return try collection.items.withLock { items throws(SecureStorageError) -> Result? in
      items.isMade ? try body(&items) : nil
    }
  }
}

extension InMemoryStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the type, without any stored item.
  public var description: String { backendName }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
