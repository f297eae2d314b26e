// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// A storage that passes on to another one what it doesn't do in its own way.
package protocol ForwardingStorage: SynchronousStorage {
  associatedtype Base: SecureStorage
  var base: Base { get }
}

extension ForwardingStorage {
  package func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }

  package func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query)
  }

  package func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }
}
