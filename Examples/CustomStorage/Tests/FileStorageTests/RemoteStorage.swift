// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

/// A storage whose operations wait for a server, for which another storage stands here.
///
/// It's written with `async` alone, and has all synchronous operations, too.
struct RemoteStorage<Server: CollectionStorage & ObservableStorage>: AsynchronousStorage,
  CollectionStorage, ObservableStorage
{
  let server: Server

  var durability: StorageDurability { server.durability }

  func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) { try await server.save(item, mode: mode) }

  func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] { try await server.items(matching: query) }

  func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int { try await server.removeItems(matching: query) }
}

// The capabilities: locks, collections and observation.
extension RemoteStorage {
  func lockWithoutBlocking() async throws(SecureStorageError) { try await server.lock() }

  func unlockWithoutBlocking() async throws(SecureStorageError) { try await server.unlock() }

  func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await server.isLocked()
  }

  func collectionsWithoutBlocking() async throws(SecureStorageError) -> [ItemCollection] {
    try await server.collections()
  }

  func collection(labeled label: String) -> Self { Self(server: server.collection(labeled: label)) }

  func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Self {
    Self(server: try await server.createCollection(labeled: label))
  }

  func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    try await server.deleteCollection(labeled: label)
  }

  func isSharedCollectionWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await server.isSharedCollection()
  }

  func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await server.observeWithoutBlocking(query, observer)
  }
}
