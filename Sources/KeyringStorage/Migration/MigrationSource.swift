/// Where a migration takes items from.
protocol MigrationSource: Sendable {
  /// The storage that the items are in, if they are in one.
  var storage: (any SecureStorage)? { get }

  /// Reads the items that are there, ready to be saved.
  func items() throws(SecureStorageError) -> [SecureItem]

  /// Removes items, unless one of them is no longer what was read: then it removes none.
  ///
  /// - Parameters:
  ///   - items: What was read; one that has vanished meanwhile is passed over.
  ///   - done: Called for each.
  /// - Throws: `.sourceChanged`, or what kept one from being removed.
  func remove(_ items: [SecureItem], _ done: () -> Void) throws(SecureStorageError)
}

extension SecureStorageError {
  static func sourceChanged(_ name: String, _ backend: String) -> SecureStorageError {
    SecureStorageError(
      .sourceChanged, operation: .remove, backend: backend,
      message: "The source's value for \(name) is no longer the one that was migrated.")
  }
}
