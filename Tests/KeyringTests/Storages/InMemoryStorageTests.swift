// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@Suite struct InMemoryStorageTests {
  @Test(arguments: StorageContract.allCases)
  func `the storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(InMemoryStorage())
  }

  @Test func `a canceled task makes no call`() async throws {
    let storage = InMemoryStorage()
    let writing = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await storage.setPassword("lost", for: .password(service: "service", account: "account"))
    }
    await expectError(.canceled) { try await writing.value }
    #expect(try await storage.items(matching: .service("service")).isEmpty)
    let observing = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await storage.observeWithoutBlocking(nil) { _ in }
    }
    let second = await expectError(.canceled) { try await observing.value }
    #expect(second?.operation == .observe)
  }

  @MainActor @Test
  func `an await on a storage that never waits stays on its thread`() async throws {
    // This is the only possible check. It ends the process if it fails.
    let storage = StorageOfTheMainThread()
    _ = try await storage.items(matching: .service("service"))
    _ = try await storage.password(for: .password(service: "service", account: "account"))
    _ = try await storage.service("service").names()
  }

  @Test func `collections come in the order of their creation`() throws {
    let storage = InMemoryStorage()
    for label in ["one", "two"] { try storage.createCollection(labeled: label) }
    #expect(storage.deleteCollection(labeled: "one"))
    let named = storage.collection(labeled: "one")
    #expect(storage.collections().map(\.label) == ["default", "two"])
    try storage.createCollection(labeled: "one")
    #expect(storage.collections().map(\.label) == ["default", "two", "one"])
    #expect(try named.items(matching: ItemQuery()).isEmpty)
    try named.setPassword("s3cret", for: .password(service: "service", account: "account"))
    #expect(try storage.collection(labeled: "one").items(matching: ItemQuery()).count == 1)
  }

  @Test func `an observer of one item isn't called for another one`() throws {
    let storage = InMemoryStorage()
    let keys = ["one", "two"].map { ItemKey.password(service: "service", account: $0) }
    let log = try EventLog(of: storage, .key(keys[1]))
    for key in keys { try storage.setPassword("s3cret", for: key) }
    log.wait(for: .changed(.created(keys[1])))
    #expect(log.changes == [.created(keys[1])])
  }
}

private struct StorageOfTheMainThread: ImmediateStorage, EmptyStorage {
  func items(matching query: ItemQuery) -> [SecureItem] {
    MainActor.preconditionIsolated()
    return []
  }
}
