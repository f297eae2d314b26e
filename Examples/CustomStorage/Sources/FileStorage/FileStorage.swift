public import KeyringStorage
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A storage that keeps its items in a file of JSON.
///
/// An example of a storage, and not one for secrets that matter: **it encrypts nothing**, and two
/// processes that write the same file at once lose what one of them wrote.
///
/// ```swift
/// SecureStorageDefaults.storage = FileStorage(at: URL(filePath: "/path/to/items.json"))
/// ```
public final class FileStorage: BlockingStorage {
  private let url: URL
  /// Holds nothing: what is stored is in the file.
  private let lock = Mutex(())

  /// Keeps items in a file, which is there once something was saved.
  ///
  /// - Parameter url: The file.
  public init(at url: URL) {
    self.url = url
  }

  /// Stores an item.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: As the mode has it, or because the file cannot be read or written.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try withItems(for: .save) { (items: inout [SecureItem]) throws(SecureStorageError) in
      let index = items.firstIndex { $0.key == item.key }
      let old = index.map { items.remove(at: $0) }
      if mode == .add, old != nil { throw failure(.itemAlreadyExists, .save) }
      if mode == .update, old == nil { throw failure(.itemNotFound, .save) }
      let secret =
        if let secret = item.secret ?? old?.secret { secret } else { try secretOfNewItem(item) }
      let now = Date()
      let saved = SecureItem(
        key: item.key,
        secret: secret,
        label: item.label ?? old?.label ?? item.key.defaultLabel,
        attributes: (old?.attributes ?? [:]).merging(item.attributes ?? [:]) { $1 },
        created: old?.created ?? now,
        modified: now,
        isLocked: false)
      // Newest first, as they are to be found.
      items.insert(saved, at: 0)
    }
  }

  /// Finds items.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found, newest first.
  /// - Throws: Because the query is refused or the file cannot be read.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try withItems(for: .read) { items in
      items.filter(query.matches).prefix(query.limit ?? .max).map { $0.limited(to: query.details) }
    }
  }

  /// Removes items.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were removed.
  /// - Throws: Because the query is refused or the file cannot be read or written.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try withItems(for: .remove) { items in
      let removed = Set(items.filter(query.matches).prefix(query.limit ?? .max).map(\.key))
      items.removeAll { removed.contains($0.key) }
      return removed.count
    }
  }

  /// Lets one caller at a time see the items, and writes them when they were changed.
  private func withItems<Result>(
    for operation: SecureStorageError.Operation,
    _ body: (inout [SecureItem]) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try lock.withLock { _ throws(SecureStorageError) in
      if CancellationSignal.current?.isCancelled == true { throw failure(.canceled, operation) }
      let found = try attempt(operation) { try ItemFile.read(url) }
      var items = found
      let result = try body(&items)
      if items != found { try attempt(operation) { try ItemFile.write(items, to: url) } }
      return result
    }
  }

  private func attempt<Result>(
    _ operation: SecureStorageError.Operation, _ body: () throws -> Result
  ) throws(SecureStorageError) -> Result {
    do { return try body() } catch {
      // Not the text of a decoding error, which may quote what it was to decode.
      throw failure(.backend, operation, "The file \(url.path) cannot be read or written.")
    }
  }

  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation,
    _ message: String? = nil
  ) -> SecureStorageError {
    SecureStorageError(code, operation: operation, backend: backendName, message: message)
  }
}
