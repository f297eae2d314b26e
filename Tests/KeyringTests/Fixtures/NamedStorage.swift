// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import TestPrograms

/// A storage in memory with a name of its own.
struct NamedStorage: ImmediateStorage, ForwardingStorage, ObservableStorage {
  let backendName: String
  let durability = StorageDurability.temporary
  let base = InMemoryStorage()

  let readsOneVersion = true

  init(_ name: String) { backendName = name }

  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try base.items(for: keys, details: details)
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    base.observe(query, observer)
  }
}
