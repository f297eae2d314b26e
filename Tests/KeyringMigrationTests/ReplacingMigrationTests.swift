// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import TestPrograms
import Testing

/// Migrations to a storage that has other values under the same keys.
@Suite struct ReplacingMigrationTests {
  private let source = InMemoryStorage()
  private let destination = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  private func migration(replacing: Bool) -> Migration {
    Migration(of: [key], from: source, to: destination, replacing: replacing)
  }

  @Test func `another value is replaced only if that is allowed`() throws {
    try source.setPassword("ours", for: key)
    try destination.save(
      SecureItem(key: key, secret: Secret("theirs"), attributes: ["note": "kept"]), mode: .add)
    expectError(.itemAlreadyExists) { try migration(replacing: false).move() }
    #expect(try destination.password(for: key) == "theirs")
    #expect(try migration(replacing: true).move().count == 1)
    let item = try #require(try destination.item(for: key))
    #expect(item.secret == Secret("ours"))
    #expect(item.attributes?["note"] == "kept")
    #expect(try !source.exists(key))
  }

  @Test func `an old secret doesn't get the time of expiry of the new one`() throws {
    try source.setPassword("old", for: key)
    var item = SecureItem(key: key, secret: Secret("new"))
    item.expires = .now
    try destination.save(item, mode: .add)
    #expect(try migration(replacing: true).copy().count == 1)
    #expect(try destination.item(for: key)?.expires == nil)
    #expect(try destination.password(for: key) == "old")
  }

  @Test func `an old view of the destination is not migrated to it`() throws {
    let other = ItemKey.password(service: "service", account: "other")
    try destination.setPassword("new", for: key)
    try destination.setPassword("other", for: other)
    let view = AlteringStorage(
      base: destination, whenReading: { [key] in if $0.key == key { $0.secret = Secret("old") } })
    let migration = Migration(of: [key, other], from: view, to: destination, replacing: true)
    expectError(.invalidArgument) { try migration.move() }
    #expect(try destination.password(for: key) == "new")
    #expect(try destination.password(for: other) == "other")
  }

  @Test func `another label is replaced, too`() throws {
    for (storage, label) in [(source, "ours"), (destination, "theirs")] {
      try storage.save(SecureItem(key: key, secret: Secret("same"), label: label), mode: .add)
    }
    #expect(try migration(replacing: true).move().count == 1)
    #expect(try destination.item(for: key)?.label == "ours")
  }

  @Test func `plaintext replaces a value, too`() async throws {
    try await destination.setPassword("old", for: key)
    let defaults = Defaults(["password": "new"])
    let migration = Migration(
      of: [.password("password", as: key)], from: defaults.plaintext, to: destination,
      replacing: true)
    #expect(try await migration.move().count == 1)
    #expect(try await destination.password(for: key) == "new")
  }
}
