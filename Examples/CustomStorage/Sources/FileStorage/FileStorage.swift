// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A storage that keeps its items in a JSON file.
///
/// This is an example of a storage. Don't use it for secrets that matter: **it encrypts nothing**, and if
/// two processes write the same file at the same time, the changes of one of them are lost.
///
/// ```swift
/// SecureStorageDefaults.storage = FileStorage(at: URL(filePath: "/path/to/items.json"))
/// ```
public final class FileStorage: BlockingStorage {
  private let url: URL
  /// The lock for the file; it protects no value, because the items are in the file.
  private let lock = Mutex(())

  /// Creates a storage for a file, which is created when the first item is saved.
  ///
  /// - Parameter url: The URL of the file.
  public init(at url: URL) {
    self.url = url
  }

  /// Stores an item.
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists` or `.itemNotFound` according to the mode, or another
  ///   `SecureStorageError` if the file can't be read or written.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try withItems(for: .save) { (items: inout [SecureItem]) throws(SecureStorageError) in
      let index = items.firstIndex { $0.key == item.key }
      let old = index.map { items.remove(at: $0) }
      if mode == .add, old != nil { throw error(.itemAlreadyExists, during: .save) }
      if mode == .update, old == nil { throw error(.itemNotFound, during: .save) }
      let secret =
        if let secret = item.secret ?? old?.secret { secret } else { try requireSecret(item) }
      let now = Date()
      let saved = SecureItem(
        key: item.key,
        secret: secret,
        label: item.label ?? old?.label ?? item.key.defaultLabel,
        attributes: (old?.attributes ?? [:]).merging(item.attributes ?? [:]) { $1 },
        created: old?.created ?? now,
        modified: now,
        isLocked: false)
      // Items are returned newest first.
      items.insert(saved, at: 0)
    }
  }

  /// Returns the items that match a query, newest first.
  ///
  /// - Parameter query: The query that selects the items and their details.
  /// - Returns: The items.
  /// - Throws: `SecureStorageError` if the query is refused or the file can't be read.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try withItems(for: .read) { items in
      items.filter(query.matches).prefix(query.limit ?? .max).map { $0.selecting(query.details) }
    }
  }

  /// Removes the items that match a query.
  ///
  /// - Parameter query: The query that selects the items.
  /// - Returns: The number of removed items.
  /// - Throws: `SecureStorageError` if the query is refused or the file can't be read or written.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try withItems(for: .remove) { items in
      let removed = Set(items.filter(query.matches).prefix(query.limit ?? .max).map(\.key))
      items.removeAll { removed.contains($0.key) }
      return removed.count
    }
  }

  /// Gives access to the items to one caller at a time, and writes them if they were changed.
  private func withItems<Result>(
    for operation: SecureStorageError.Operation,
    _ body: (inout [SecureItem]) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    try lock.withLock { _ throws(SecureStorageError) in
      if CancellationSignal.current?.isCancelled == true {
        throw error(.canceled, during: operation)
      }
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
      // The text of a decoding error isn't used, because it may quote the data.
      throw self.error(
        .other, during: operation, message: "The file \(url.path) can't be read or written.")
    }
  }
}
