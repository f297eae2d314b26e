// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Migrations that give items other keys in the same storage.
@Suite struct RenamingMigrationTests {
  private let storage = InMemoryStorage()
  private let old = ItemKey.password(service: "s", account: "old")
  private let new = ItemKey.password(service: "s", account: "new")

  private func rename(in storage: (any SecureStorage)? = nil) throws -> Int {
    try Migration(renaming: [old: new], in: storage ?? self.storage).move().count
  }

  private func save(label: String? = "A label") throws {
    var item = SecureItem(key: old, secret: Secret("s3cret"), label: label)
    (item.comment, item.expires) = ("kept", Date(timeIntervalSince1970: 1_800_000_000))
    try storage.save(item, mode: .add)
  }

  @Test func `everything but the key stays`() throws {
    try save()
    #expect(try rename() == 1)
    let item = try #require(try storage.item(for: new))
    #expect(item.secret == Secret("s3cret") && item.label == "A label" && item.comment == "kept")
    #expect(item.expires == Date(timeIntervalSince1970: 1_800_000_000))
    #expect(try storage.items(matching: ItemQuery()).count == 1)
    #expect(try rename() == 0)
  }

  @Test func `a label of the old names gets the new ones`() throws {
    try save(label: nil)
    #expect(try rename() == 1)
    #expect(try storage.item(for: new)?.label == new.defaultLabel)
  }

  @Test(arguments: [false, true])
  func `another item is never replaced`(isAddedMeanwhile: Bool) throws {
    try save()
    let faulty = FaultyStorage(storage)
    if !isAddedMeanwhile { try storage.setPassword("theirs", for: new) }
    faulty.fail { [storage, new] call in
      if call.operation == .save { try? storage.setPassword("theirs", for: new) }
      return nil
    }
    expectError(.itemAlreadyExists) { try rename(in: faulty) }
    #expect(try storage.password(for: old) == "s3cret" && storage.password(for: new) == "theirs")
  }

  @Test func `keys that could be confused are refused`() throws {
    try save()
    let third = ItemKey.password(service: "s", account: "third")
    let value = ItemKey.value(service: "s", account: "new")
    for keys in [[old: old], [old: new, new: third], [old: new, third: new], [old: value]] {
      expectError(.invalidArgument) { try Migration(renaming: keys, in: storage).move() }
    }
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [old])
  }

  @Test func `the item is there after a crash at any call`() throws {
    var (call, isOver) = (1, false)
    while !isOver {
      let storage = InMemoryStorage()
      try storage.save(
        SecureItem(key: old, secret: Secret("s3cret"), label: "A label"), mode: .add)
      let faulty = FaultyStorage(storage)
      let count = Mutex(0)
      faulty.fail { [call] _ in
        let number = count.withLock { number in
          number += 1
          return number
        }
        return number < call
          ? nil : SecureStorageError(.other, operation: .save, backendName: "killed")
      }
      isOver = (try? rename(in: faulty)) != nil
      let found = try storage.item(for: old) ?? storage.item(for: new)
      #expect(found?.secret == Secret("s3cret") && found?.label == "A label", "call \(call)")
      _ = try rename(in: storage)
      #expect(try storage.items(matching: ItemQuery()).map(\.key) == [new], "call \(call)")
      call += 1
    }
    #expect(call > 5)
  }
}
