// SPDX-License-Identifier: Apache-2.0

/// A storage of values that a program gets at its start and can't change.
///
/// Saving or removing an item fails with `.readOnly`. A type that conforms to this protocol implements only
/// the methods that find items.
public protocol ReadOnlyStorage: SecureStorage {}

extension ReadOnlyStorage {
  /// Throws an error instead of storing an item.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - mode: The save mode.
  /// - Throws: `.readOnly`, or `.invalidArgument` if no storage could keep the item.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    throw error(.readOnly, during: .save)
  }

  /// Throws an error instead of removing items, regardless of whether there are any.
  ///
  /// - Parameter query: The conditions for the items.
  /// - Returns: No value, because the method always throws an error.
  /// - Throws: `.readOnly`, or `.invalidArgument` if the query names nothing.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    throw error(.readOnly, during: .remove)
  }
}
