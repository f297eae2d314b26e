// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@Suite struct AutoLockingStorageTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `the collection is locked between uses`() throws {
    let vault = try InMemoryStorage().createCollection(labeled: "vault")
    let confirming = AutoLockingStorage(vault)
    // There is no user to confirm the use, so the collection stays locked.
    let error = #expect(throws: SecureStorageError.self) {
      try confirming.setPassword("s3cret", for: key)
    }
    #expect(error?.code == .locked)
    #expect(try vault.isLocked())
    let origin = #expect(throws: SecureStorageError.self) { try confirming.origin(of: key) }
    #expect(origin?.code == .locked)
  }

  @Test func `the default collection is refused`() throws {
    let storage = InMemoryStorage()
    let error = #expect(throws: SecureStorageError.self) {
      try AutoLockingStorage(storage).password(for: key)
    }
    #expect(error?.code == .invalidArgument && error?.argument == "collection")
    #expect(try !storage.isLocked())
  }

  @Test func `the collection is locked again if the task is cancelled during a use`() async throws {
    let vault = try await InMemoryStorage().createCollection(labeled: "vault")
    let confirming = AutoLockingStorage(CancelledWhileOpen(base: vault))
    let task = Task { [key] in try await confirming.password(for: key) }
    let error = await #expect(throws: SecureStorageError.self) { try await task.value }
    #expect(error?.code == .canceled)
    #expect(try await vault.isLocked())
  }
}

/// A collection that the user unlocks at the moment its caller cancels the call.
private struct CancelledWhileOpen: BlockingStorage, CollectionStorage {
  let base: InMemoryStorage

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.unlock()
    CancellationSignal.current?.cancel()
    return try base.items(matching: query)
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }
  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }
  func lock() throws(SecureStorageError) { try base.lock() }
  func unlock() throws(SecureStorageError) { try base.unlock() }
  func isLocked() throws(SecureStorageError) -> Bool { try base.isLocked() }
  func collections() -> [ItemCollection] { base.collections() }
  func collection(labeled label: String) -> Self { Self(base: base.collection(labeled: label)) }
  func createCollection(labeled label: String) throws(SecureStorageError) -> Self {
    Self(base: try base.createCollection(labeled: label))
  }
  func deleteCollection(labeled label: String) -> Bool { base.deleteCollection(labeled: label) }
  func isSharedCollection() -> Bool { base.isSharedCollection() }
}
