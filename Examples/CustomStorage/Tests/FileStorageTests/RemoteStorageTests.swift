// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// A storage that is written with `async` alone keeps every rule, in both forms.
@Suite struct RemoteStorageTests {
  typealias Storage = RemoteStorage<InMemoryStorage>

  @Test(arguments: StorageContract.cases(for: Storage.self))
  func `the storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(Storage(server: InMemoryStorage()))
  }

  @Test func `the synchronous forms of its capabilities run the asynchronous ones`() throws {
    let storage = try Storage(server: InMemoryStorage()).createCollection(labeled: "work")
    try storage.lock()
    #expect(try storage.isLocked())
    #expect(storage.diagnose(writing: false).failure?.code == .locked)
    try storage.unlock()
    #expect(try storage.collections().contains { $0.label == "work" })
    #expect(try !storage.isSharedCollection())
    #expect(try storage.deleteCollection(labeled: "work"))
  }
}
