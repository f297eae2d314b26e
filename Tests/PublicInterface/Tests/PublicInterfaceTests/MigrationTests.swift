// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import Synchronization
import Testing

/// Tests of moving secrets to a storage.
@Suite struct MigrationTests {
  private struct Settings {
    @Password("token") var token: String?
  }

  private let destination = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "token")

  @Test func `a migration moves the items of a query or of keys`() throws {
    let source = InMemoryStorage()
    let phases = Mutex<Set<Migration.Phase>>([])
    for number in 1...2 {
      try source.setPassword("s3cret", for: key)
      let progress: @Sendable (Migration.Progress) -> Void = { progress in
        #expect(progress.completed <= progress.total)
        _ = phases.withLock { $0.insert(progress.phase) }
      }
      let byQuery = Migration(
        of: .service("service"), from: source, to: destination, progress: progress)
      let byKeys = Migration(of: [key], from: source, to: destination, progress: progress)
      #expect(try (number == 1 ? byQuery : byKeys).move() == 1)
      #expect(try destination.remove(key))
    }
    #expect(phases.withLock { $0 } == [.checking, .writing, .verifying, .removing])
  }

  @Test func `a copy leaves the source as it is`() throws {
    let source = InMemoryStorage()
    try source.setPassword("s3cret", for: key)
    #expect(try Migration(of: [key], from: source, to: destination).copy() == 1)
    #expect(try source.exists(key) && destination.exists(key))
  }

  @Test func `a migration can be awaited`() async throws {
    let source = InMemoryStorage()
    try await source.setPassword("s3cret", for: key)
    let migration = Migration(of: [key], from: source, to: destination)
    #expect(try await migration.copy() == 1)
    #expect(try await migration.move() == 1)
    #expect(try await migration.move() == 0)
  }

  @Test func `a migration moves values out of plaintext files`() throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    let credentials = ItemKey.credentials(service: "service", label: "git")
    let value = ItemKey.value(service: "service", account: "numbers")
    try Data(#"{"git": {"login": "ada", "password": "pa55"}, "numbers": [1, 2]}"#.utf8)
      .write(to: URL(fileURLWithPath: path))
    let items: [PlaintextMapping] = [
      .credential("git", as: credentials), .value("numbers", of: [Int].self, as: value),
    ]
    #expect(try Migration(of: items, from: .jsonFile(path), to: destination).move() == 2)
    #expect(try destination.credential(for: credentials)?.login == "ada")
    #expect(try destination.value([Int].self, for: value) == [1, 2])

    try Data("TOKEN=s3cret\n".utf8).write(to: URL(fileURLWithPath: path))
    let token = [PlaintextMapping.password("TOKEN", as: key)]
    #expect(try Migration(of: token, from: .environmentFile(path), to: destination).move() == 1)
    #expect(try destination.password(for: key) == "s3cret")
  }

  @Test func `a migration moves all properties of a value`() async throws {
    let values = Mutex(["token": "s3cret"])
    let defaults: PlaintextSource = .values(
      read: { name in values.withLock { $0[name] } },
      remove: { names in values.withLock { values in for name in names { values[name] = nil } } })
    let properties = try SecureProperties(of: Settings())
    #expect(try moveValues(of: properties, from: defaults) == 1)
    #expect(values.withLock { $0.isEmpty })
    #expect(try await properties.migrate(from: defaults, to: destination) == 0)
    let another = InMemoryStorage()
    #expect(try moveItems(of: properties, to: another) == 1)
    #expect(try await properties.migrate(from: another, to: destination) == 1)
  }

  private func moveValues(
    of properties: SecureProperties, from plaintext: PlaintextSource
  ) throws -> Int {
    try properties.migrate(from: plaintext, to: destination)
  }

  private func moveItems(
    of properties: SecureProperties, to storage: InMemoryStorage
  ) throws -> Int {
    try properties.migrate(from: destination, to: storage)
  }

  @Test func `a migration has its own errors and operation`() {
    let codes: [SecureStorageError.Code] = [.verificationFailed, .sourceChanged]
    #expect(codes.map(\.rawValue) == ["verificationFailed", "sourceChanged"])
    #expect(SecureStorageError.Operation.migrate.description == "migrate")
  }
}
