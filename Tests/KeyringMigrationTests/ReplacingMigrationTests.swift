import Keyring
import KeyringMigration
import Synchronization
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
    let error = #expect(throws: SecureStorageError.self) { try migration(replacing: false).run() }
    #expect(error?.code == .itemAlreadyExists)
    #expect(try destination.password(for: key) == "theirs")
    #expect(try migration(replacing: true).run() == 1)
    let item = try #require(try destination.item(for: key))
    #expect(item.secret == Secret("ours"))
    #expect(item.attributes?["note"] == "kept")
    #expect(try !source.exists(key))
  }

  @Test func `a storage does not replace its own items`() throws {
    try source.setPassword("s3cret", for: key)
    let migration = Migration(of: [key], from: source, to: source, replacing: true)
    let error = #expect(throws: SecureStorageError.self) { try migration.run() }
    #expect(error?.code == .invalidArgument)
    #expect(try source.password(for: key) == "s3cret")
  }

  @Test func `plaintext replaces a value, too`() async throws {
    try await destination.setPassword("old", for: key)
    let defaults = Defaults()
    let plaintext = PlaintextSource.values(
      read: { _ in defaults.password.withLock { $0 } },
      remove: { _ in defaults.password.withLock { $0 = nil } })
    let migration = Migration(
      of: [.password("password", as: key)], from: plaintext, to: destination, replacing: true)
    #expect(try await migration.run() == 1)
    #expect(try await destination.password(for: key) == "new")
  }
}

/// The settings of an app.
private final class Defaults: Sendable {
  let password = Mutex<String?>("new")
}
