internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
/// A storage that forgets everything when it is released: for tests, previews and dry runs.
///
/// It keeps the same rules as a real keyring, and can be locked to see what an app does then. Copies
/// are the same storage.
///
/// ```swift
/// try withSecureStorage(InMemoryStorage()) {
///   settings.authToken = "s3cret"
/// }
/// ```
public struct InMemoryStorage: ImmediateStorage, CollectionStorage, ObservableStorage {
  private struct Entry {
    var secret: Secret
    var label: String
    var attributes: [String: String]
    var created: Date
    var modified: Date
    /// Counts the writes: two of them may fall on the same instant of the clock.
    var revision: UInt64

    func item(_ key: ItemKey, isLocked: Bool) -> SecureItem {
      SecureItem(
        key: key, secret: isLocked ? nil : secret, label: label, attributes: attributes,
        created: created, modified: modified, isLocked: isLocked)
    }
  }

  private struct Items {
    /// Whether there is such a collection.
    var isMade = false
    var entries: [ItemKey: Entry] = [:]
    var revision: UInt64 = 0
    var isLocked = false

    func items(matching query: ItemQuery) -> [SecureItem] {
      if let key = query.key {
        guard let item = entries[key]?.item(key, isLocked: isLocked), query.matches(item) else {
          return []
        }
        return [item]
      }
      return
        entries
        .map { (item: $1.item($0, isLocked: isLocked), revision: $1.revision) }
        .filter { query.matches($0.item) }
        .sorted { $0.revision > $1.revision }
        .prefix(query.limit ?? .max)
        .map(\.item)
    }
  }

  /// A collection, or what there is of one that nobody has made: those who observe it.
  private final class Collection: Sendable {
    let label: String
    let items = Mutex(Items())
    let observers = StorageObservers()

    init(_ label: String) { self.label = label }
  }

  /// What several storages share: every collection that was ever named, those there are in the order
  /// in which they were made.
  private final class Collections: Sendable {
    let all = Mutex<[Collection]>([])

    func collection(labeled label: String) -> Collection {
      all.withLock { all in
        if let known = all.first(where: { $0.label.isExactly(label) }) { return known }
        let new = Collection(label)
        all.append(new)
        return new
      }
    }

    /// Makes the collection; `false` when there is one.
    func create(_ collection: Collection) -> Bool {
      all.withLock { all in
        let isNew = collection.items.withLock { items in
          defer { items.isMade = true }
          return !items.isMade
        }
        if isNew {
          all.removeAll { $0 === collection }
          all.append(collection)
        }
        return isNew
      }
    }
  }

  /// Which collection of which storage: an object, so that a copy of the storage costs little.
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

  /// Makes an empty storage, with nothing but a default collection.
  public init() {
    self.init(Collections(), label: Self.defaultLabel)
    _ = place.collections.create(collection)
  }

  private init(_ shared: Collections, label: String) {
    place = Place(shared, label)
  }

  /// Stores an item under its key.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, `.invalidArgument` or `.locked`.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    let isSaved: Void? = try withUnlockedItems(.save) {
      (stored: inout Items) throws(SecureStorageError) in
      let old = stored.entries[item.key]
      if mode == .add, old != nil { throw failure(.itemAlreadyExists, .save) }
      if mode == .update, old == nil { throw failure(.itemNotFound, .save) }
      let secret =
        if let secret = item.secret ?? old?.secret { secret } else { try secretOfNewItem(item) }
      let now = Date()
      stored.revision += 1
      stored.entries[item.key] = Entry(
        secret: secret,
        label: item.label ?? old?.label ?? item.key.defaultLabel,
        attributes: (old?.attributes ?? [:]).merging(item.attributes ?? [:]) { $1 },
        created: old?.created ?? now,
        modified: now,
        revision: stored.revision)
      collection.observers.report(.changed(old == nil ? .created(item.key) : .replaced(item.key)))
    }
    if isSaved == nil { throw failure(.collectionNotFound, .save) }
  }

  /// Finds items, newest first.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: `.invalidArgument` or `.locked`.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try withItems(.read) { (items: inout Items) throws(SecureStorageError) in
      if items.isLocked, query.unlocks { throw failure(.locked, .read) }
      return items.items(matching: query).map { $0.limited(to: query.details) }
    } ?? []
  }

  /// Finds the secret stored under a key.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The secret, or `nil` when there is no item.
  /// - Throws: `.invalidArgument` or `.locked`.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    try validate(key, for: .read)
    return try withUnlockedItems(.read) { items in
      items.entries.withValue(for: key) { $0.secret }
    } ?? nil
  }

  /// Removes items.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: `.invalidArgument` or `.locked`.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try withUnlockedItems(.remove) { stored in
      let items = stored.items(matching: query)
      for item in items {
        stored.entries[item.key] = nil
        collection.observers.report(.changed(.removed(item.key)))
      }
      return items.count
    } ?? 0
  }

  // MARK: - Locking

  /// Locks the collection: until it is unlocked every operation throws `.locked`.
  ///
  /// - Throws: `.collectionNotFound`.
  public func lock() throws(SecureStorageError) {
    try withExistingItems(.lock) { items in
      items.isLocked = true
      collection.observers.report(.locked)
    }
  }

  /// Unlocks the collection, without asking anybody.
  ///
  /// - Throws: `.collectionNotFound`.
  public func unlock() throws(SecureStorageError) {
    try withExistingItems(.unlock) { $0.isLocked = false }
  }

  /// Tells whether the collection is locked.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: `.collectionNotFound`.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try withExistingItems(.read) { $0.isLocked }
  }

  // MARK: - Collections

  /// Lists the collections.
  ///
  /// - Returns: The collections, in the order in which they were made.
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

  /// The storage for a collection, whether or not there is one with that label.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage.
  public func collection(labeled label: String) -> InMemoryStorage {
    InMemoryStorage(place.collections, label: label)
  }

  /// Makes a collection, unlocked and empty.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: The storage for it.
  /// - Throws: `.collectionAlreadyExists` or `.invalidArgument`.
  @discardableResult
  public func createCollection(
    labeled label: String
  ) throws(SecureStorageError) -> InMemoryStorage {
    try validate(collectionLabel: label, for: .createCollection)
    let storage = collection(labeled: label)
    if place.collections.create(storage.collection) { return storage }
    throw failure(.collectionAlreadyExists, .createCollection)
  }

  /// Deletes a collection and all its items for good.
  ///
  /// - Parameter label: The label of the collection.
  /// - Returns: `true` if there was one.
  @discardableResult
  public func deleteCollection(labeled label: String) -> Bool {
    let collection = place.collections.collection(labeled: label)
    return collection.items.withLock { items in
      for key in items.entries.keys { collection.observers.report(.changed(.removed(key))) }
      defer { items = Items() }
      return items.isMade
    }
  }

  /// Tells whether this is the collection that a new storage has.
  ///
  /// - Returns: `true` if it is.
  public func isCommonCollection() -> Bool { collection.label == Self.defaultLabel }

  // MARK: - Observation

  /// Has a closure called with every change of the collection, before the call that makes it returns.
  ///
  /// - Parameters:
  ///   - query: Not looked at: every change is named.
  ///   - observer: What to call.
  /// - Returns: The observation.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageObservation {
    collection.observers.add(observer)
  }

  // MARK: - State

  private func withUnlockedItems<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout Items) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result? {
    try withItems(operation) { (items: inout Items) throws(SecureStorageError) -> Result in
      if items.isLocked { throw failure(.locked, operation) }
      return try body(&items)
    }
  }

  private func withExistingItems<Result>(
    _ operation: SecureStorageError.Operation, _ body: (inout Items) -> Result
  ) throws(SecureStorageError) -> Result {
    if let result = try withItems(operation, body) { return result }
    throw failure(.collectionNotFound, operation)
  }

  /// Changes the collection; `nil` when there is none.
  private func withItems<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout Items) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result? {
    if CancellationSignal.isCurrentCancelled { throw failure(.canceled, operation) }
    return try collection.items.withLock { items throws(SecureStorageError) -> Result? in
      items.isMade ? try body(&items) : nil
    }
  }

  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecureStorageError(code, operation: operation, backend: backendName)
  }
}

extension InMemoryStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the type; never what is stored.
  public var description: String { backendName }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
