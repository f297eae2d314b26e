// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// A storage that keeps no items.
package protocol EmptyStorage: SynchronousStorage {}

extension EmptyStorage {
  package func save(_ item: SecureItem, mode: SaveMode) {}
  package func items(matching query: ItemQuery) -> [SecureItem] { [] }
  package func removeItems(matching query: ItemQuery) -> Int { 0 }
}
