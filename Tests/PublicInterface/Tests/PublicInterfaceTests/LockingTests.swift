// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

/// Tests of storages that can be locked and of storages that have collections.
@Suite struct LockingTests {
  @Test func `a storage is locked and unlocked`() throws {
    func relock(_ storage: some LockableStorage) throws(SecureStorageError) {
      try storage.lock()
      #expect(try storage.isLocked())
      try storage.unlock()
    }
    let storage = InMemoryStorage()
    try relock(storage)
    try storage.lock()
    #expect(try storage.isLocked())
    try storage.unlock()
  }

  @Test func `a storage is locked and unlocked with await`() async throws {
    let storage: any LockableStorage = InMemoryStorage()
    try await storage.lock()
    #expect(try await storage.isLocked())
    try await storage.unlock()
  }

  @Test func `collections are created, found and deleted`() throws {
    func keep(_ storage: some CollectionStorage) throws(SecureStorageError) {
      let work = try storage.createCollection(labeled: "work")
      try work.setPassword("s3cret", for: .password(service: "service", account: "account"))
      #expect(try storage.collection(labeled: "work").items(matching: ItemQuery()).count == 1)
      #expect(try storage.collections().map(\.label) == ["default", "work"])
      #expect(try storage.isSharedCollection())
      #expect(try storage.deleteCollection(labeled: "work"))
    }
    try keep(InMemoryStorage())
    let storage = InMemoryStorage()
    _ = try storage.createCollection(labeled: "work")
    #expect(!storage.collection(labeled: "work").isSharedCollection())
    #expect(storage.collections().count == 2)
    #expect(storage.deleteCollection(labeled: "work"))
    #expect(storage.description == "InMemoryStorage")
    #expect(storage.customMirror.children.isEmpty)
  }

  @Test func `collections are created, counted and deleted with await`() async throws {
    let storage: any CollectionStorage = InMemoryStorage()
    try await storage.createCollection(labeled: "work")
    #expect(try await storage.collections().count == 2)
    #expect(try await storage.isSharedCollection())
    #expect(try await storage.deleteCollection(labeled: "work"))
  }

  @Test func `every part of a collection can be set`() {
    var collection = ItemCollection(label: "work", isLocked: false, isDefault: false)
    collection.label = "private"
    collection.isLocked = true
    collection.isDefault = true
    #expect(collection == ItemCollection(label: "private", isLocked: true, isDefault: true))
  }

  @Test func `every use of an AutoLockingStorage needs a confirmation`() throws {
    let base = try InMemoryStorage().createCollection(labeled: "work")
    try base.unlock()
    let storage = AutoLockingStorage(base)
    let key = ItemKey.password(service: "service", account: "account")
    // An in-memory storage doesn't ask anyone, so nothing is confirmed.
    for body: () throws -> Void in [
      { try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add) },
      { _ = try storage.items(matching: .key(key)) },
      { _ = try storage.items(for: [key], details: .all) },
      { try storage.removeItems(matching: .key(key)) },
    ] {
      let error = #expect(throws: SecureStorageError.self) { try body() }
      #expect(error?.code == .locked)
    }
  }
}
