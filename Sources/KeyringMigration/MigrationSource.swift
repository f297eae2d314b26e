// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A source of the items of a migration.
protocol MigrationSource: Sendable {
  /// The storage of the items, or `nil` if they aren't in a storage.
  var storage: (any SecureStorage)? { get }

  /// Reads the existing items, ready to be saved.
  ///
  /// - Parameter isMoving: Pass `true` to also check that the items can be removed.
  /// - Returns: The items.
  /// - Throws: `SecureStorageError` for items that can't be read, or not be removed.
  func items(moving isMoving: Bool) throws(SecureStorageError) -> [SecureItem]

  /// Returns the keys of the items that match, and that aren't migrated because they're another program's own.
  func leftItems() throws(SecureStorageError) -> [ItemKey]

  /// Removes items, and stops at one that has changed since it was read.
  ///
  /// If one has changed when the removal begins, none is removed.
  ///
  /// - Parameters:
  ///   - items: The items as they were read. Items that have disappeared in the meantime are skipped.
  ///   - done: The closure to call for each item.
  /// - Returns: The number of items that were removed.
  /// - Throws: `.sourceChanged`, `.verificationFailed` for an item that's still there, or the error of removing one.
  func remove(_ items: [SecureItem], _ done: () -> Void) throws(SecureStorageError) -> Int
}

extension MigrationSource {
  func leftItems() throws(SecureStorageError) -> [ItemKey] { [] }
}

extension SecureStorageError {
  static func sourceChanged(_ name: String, _ backendName: String) -> SecureStorageError {
    SecureStorageError(
      .sourceChanged, operation: .remove, backendName: backendName,
      message: "The source's value for \(name) has changed since it was migrated.")
  }
}
