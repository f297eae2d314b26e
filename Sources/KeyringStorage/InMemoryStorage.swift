internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
/// A storage that forgets everything when it is released: for tests, previews and dry runs.
///
/// It keeps the same rules as a real keyring, and can be locked to see what an app does then.
///
/// ```swift
/// try withSecureStorage(InMemoryStorage()) {
///   settings.authToken = "s3cret"
/// }
/// ```
public final class InMemoryStorage: LockableStorage {
  private struct Entry {
    var secret: Secret
    var label: String
    var attributes: [String: String]
    var created: Date
    var modified: Date
    /// Counts the writes: two of them may fall on the same instant of the clock.
    var revision: UInt64
  }

  private struct State {
    var entries: [ItemKey: Entry] = [:]
    var revision: UInt64 = 0
    var isLocked = false
  }

  private let state = Mutex(State())

  /// Makes an empty storage.
  public init() {}

  /// Stores an item under its key.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, `.invalidArgument` or `.locked`.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try withUnlockedState(.save) { (state: inout State) throws(SecureStorageError) in
      let old = state.entries[item.key]
      if mode == .add, old != nil { throw failure(.itemAlreadyExists, .save) }
      if mode == .update, old == nil { throw failure(.itemNotFound, .save) }
      let secret =
        if let secret = item.secret ?? old?.secret { secret } else { try secretOfNewItem(item) }
      let now = Date()
      state.revision += 1
      state.entries[item.key] = Entry(
        secret: secret,
        label: item.label ?? old?.label ?? item.key.defaultLabel,
        attributes: (old?.attributes ?? [:]).merging(item.attributes ?? [:]) { $1 },
        created: old?.created ?? now,
        modified: now,
        revision: state.revision)
    }
  }

  /// Finds items, newest first.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: `.invalidArgument` or `.locked`.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try withUnlockedState(.read) { state in
      state.entries
        .filter { query.matches($0.key, attributes: $0.value.attributes) }
        .sorted { $0.value.revision > $1.value.revision }
        .prefix(query.limit ?? .max)
        .map { Self.item($0.key, $0.value, query.details) }
    }
  }

  /// Removes items.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were removed.
  /// - Throws: `.invalidArgument` or `.locked`.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try withUnlockedState(.remove) { state in
      let keys = state.entries
        .filter { query.matches($0.key, attributes: $0.value.attributes) }
        .sorted { $0.value.revision > $1.value.revision }
        .prefix(query.limit ?? .max).map(\.key)
      for key in keys { state.entries[key] = nil }
      return keys.count
    }
  }

  /// Locks the storage: until it is unlocked every operation throws `.locked`.
  public func lock() {
    state.withLock { $0.isLocked = true }
  }

  /// Unlocks the storage, without asking anybody.
  public func unlock() {
    state.withLock { $0.isLocked = false }
  }

  /// Tells whether the storage is locked.
  ///
  /// - Returns: Whether it is.
  public func isLocked() -> Bool {
    state.withLock { $0.isLocked }
  }

  private func withUnlockedState<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (inout State) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try state.withLock { (state: inout State) throws(SecureStorageError) -> Result in
      if state.isLocked { throw failure(.locked, operation) }
      return try body(&state)
    }
  }

  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecureStorageError(code, operation: operation, backend: backendName)
  }

  private static func item(
    _ key: ItemKey, _ entry: Entry, _ details: ItemQuery.Details
  ) -> SecureItem {
    var item = SecureItem(key: key)
    if details.contains(.secret) { item.secret = entry.secret }
    if details.contains(.metadata) {
      item.label = entry.label
      item.attributes = entry.attributes
      item.created = entry.created
      item.modified = entry.modified
    }
    return item
  }
}
