/// A storage of what a program was given when it was started, and cannot change.
///
/// Whatever saves or removes in it fails with `.readOnly`. A type that adopts this protocol finds
/// items, and leaves the rest out.
public protocol ReadOnlyStorage: SecureStorage {}

extension ReadOnlyStorage {
  /// Refuses to store an item.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - mode: The save mode.
  /// - Throws: `.readOnly`; `.invalidArgument` for what no storage could keep.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    throw SecureStorageError(.readOnly, operation: .save, backend: backendName)
  }

  /// Refuses to remove items, whether or not there are any.
  ///
  /// - Parameter query: Which items.
  /// - Returns: Nothing ever.
  /// - Throws: `.readOnly`; `.invalidArgument` for a query that names nothing.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    throw SecureStorageError(.readOnly, operation: .remove, backend: backendName)
  }
}
