// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

/// A third-party storage with all capabilities, which passes on each call.
struct ForwardingStorage<Base: CollectionStorage & ObservableStorage>: BlockingStorage,
  CollectionStorage, ObservableStorage
{
  let base: Base
  let durability: StorageDurability

  /// Creates a storage that promises something, by default what the other one does.
  init(base: Base, durability: StorageDurability? = nil) {
    self.base = base
    self.durability = durability ?? base.durability
  }

  var backendName: String { "Forwarding to \(base.backendName)" }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query)
  }

  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try base.items(for: keys, details: details)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }

  func lock() throws(SecureStorageError) { try base.lock() }
  func unlock() throws(SecureStorageError) { try base.unlock() }
  func isLocked() throws(SecureStorageError) -> Bool { try base.isLocked() }

  func collections() throws(SecureStorageError) -> [ItemCollection] { try base.collections() }

  func collection(labeled label: String) -> Self { Self(base: base.collection(labeled: label)) }

  func createCollection(labeled label: String) throws(SecureStorageError) -> Self {
    Self(base: try base.createCollection(labeled: label))
  }

  func deleteCollection(labeled label: String) throws(SecureStorageError) -> Bool {
    try base.deleteCollection(labeled: label)
  }

  func isSharedCollection() throws(SecureStorageError) -> Bool { try base.isSharedCollection() }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try base.observe(query, observer)
  }
}
