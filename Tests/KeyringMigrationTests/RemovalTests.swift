// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringMigration
import KeyringStorage
import TestPrograms
import Testing

/// The removal of the items from the source of a move.
struct RemovalTests {
  private let keys = ["1", "2"].map { ItemKey.password(service: "service", account: $0) }

  private func fill(_ storage: some SecureStorage) throws {
    for key in keys { try storage.setPassword("s3cret", for: key) }
  }

  /// Returns the migrations of the same items that find them by a query, and by their keys.
  private func migrations(
    from source: any SecureStorage, to destination: any SecureStorage,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) -> [Migration] {
    [
      Migration(of: .service("service"), from: source, to: destination, progress: progress),
      Migration(of: keys, from: source, to: destination, progress: progress),
    ]
  }

  @Test func `a move fails if the source keeps its copy`() throws {
    for says in 0...1 {
      let destination = InMemoryStorage()
      let source = KeepingStorage(removalCount: says)
      try fill(source.base)
      for migration in migrations(from: source, to: destination) {
        expectError(.verificationFailed) { try migration.move() }
        for key in keys { #expect(try destination.password(for: key) == "s3cret") }
      }
    }
  }

  @Test func `a move counts what it removed`() throws {
    for index in 0...1 {
      let (source, destination) = (InMemoryStorage(), InMemoryStorage())
      try fill(source)
      let key = keys[0]
      let migration = migrations(from: source, to: destination) { progress in
        // Another program removes one item first.
        if progress.phase == .removing, progress.completed == 0 { _ = try? source.remove(key) }
      }[index]
      #expect(try migration.move().count == 1)
      #expect(try source.items(matching: ItemQuery()).isEmpty)
    }
  }
}

/// A storage that keeps what it's to remove.
private struct KeepingStorage: BlockingStorage, ForwardingStorage {
  let base = InMemoryStorage()
  /// The number of items that it says it has removed.
  let removalCount: Int

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int { removalCount }
}
