// SPDX-License-Identifier: Apache-2.0

/// A storage of values that a program gets at its start and can't change.
///
/// Saving or removing an item fails with `.readOnly`. A type that conforms to this protocol implements only
/// the methods that find items.
///
/// ```swift
/// struct BuildSecrets: ReadOnlyStorage, ImmediateStorage {
///   let values: [SecureItem]
///
///   func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
///     try validate(query, for: .read)
///     return values.filter(query.matches).map { $0.selecting(query.details) }
///   }
/// }
/// ```
public protocol ReadOnlyStorage: SecureStorage {}

extension ReadOnlyStorage {
  /// Throws `.readOnly` instead of storing an item.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    throw error(.readOnly, during: .save)
  }

  /// Throws `.readOnly` instead of removing items, regardless of whether there are any.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    throw error(.readOnly, during: .remove)
  }

  /// Throws `.readOnly` instead of a turn to change something.
  public nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    throw error(.readOnly, during: .takeTurn)
  }
}
