// SPDX-License-Identifier: Apache-2.0

/// A storage that stores many items in one step, where each step takes longer the more items there are.
package protocol BatchStorage: SecureStorage {
  /// Stores all of the items under their keys, or none.
  ///
  /// - Parameter changes: The items, each with its save mode.
  /// - Throws: The errors of saving one of them.
  func save(_ changes: [(item: SecureItem, mode: SaveMode)]) throws(SecureStorageError)
}
