// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage

/// A storage in memory with a name of its own.
struct NamedStorage: ImmediateStorage, ObservableStorage {
  let backendName: String
  let durability = StorageDurability.temporary
  private let items = InMemoryStorage()

  init(_ name: String) { backendName = name }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try items.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try items.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try items.removeItems(matching: query)
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    items.observe(query, observer)
  }
}
