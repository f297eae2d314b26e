// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import Testing

/// The differences of KeePassXC.
///
/// A collection is a database, which shows nothing while it's locked. Each program may use only the
/// items that the user has allowed.
@Suite(
  .inPrivateSession, .timeLimit(.minutes(10)),
  .only(on: .keepassxc, "needs Scripts/test --provider keepassxc"))
struct KeePassXCTests {
  /// An operation of an app on the stored item, and its outcome while the database is unlocked.
  enum Operation: CaseIterable, CustomTestStringConvertible {
    case read, readAll, exists, find, add, addAnother, update, save, saveLabel, remove, removeAll

    static let value = "of the second call"

    /// Performs the operation, and returns its outcome.
    func callAsFunction(_ storage: some SecureStorage) throws -> String {
      let key = StorageUse.key
      switch self {
      case .read: return try storage.password(for: key) ?? "nothing"
      case .readAll:
        let items = try storage.items(for: [key], details: .secret)
        return items[key]?.secret?.text ?? "nothing"
      case .exists: return "\(try storage.exists(key))"
      case .find: return "\(try storage.items(matching: .service("service")).count)"
      case .add: try storage.setPassword(Self.value, for: key, mode: .add)
      case .addAnother:
        try storage.setPassword(Self.value, for: .password(service: "service", account: "new"))
      case .update: try storage.setPassword(Self.value, for: key, mode: .update)
      case .save: try storage.setPassword(Self.value, for: key)
      case .saveLabel: try storage.save(SecureItem(key: key, label: "Label"), mode: .update)
      case .remove: return "\(try storage.remove(key))"
      case .removeAll: return "\(try storage.removeItems(matching: .service("service")))"
      }
      return "done"
    }

    /// Returns the outcome of the operation, or its error.
    func outcome(_ storage: some SecureStorage) throws -> String {
      do {
        return try self(storage)
      } catch let error as SecureStorageError {
        return "error \(error.code)"
      }
    }

    var outcomeWhenUnlocked: String {
      switch self {
      case .read, .readAll: "s3cret"
      case .exists, .remove: "true"
      case .find, .removeAll: "1"
      case .add: "error itemAlreadyExists"
      case .addAnother, .update, .save, .saveLabel: "done"
      }
    }

    /// The password under the key after the operation.
    var passwordAfterwards: String? {
      switch self {
      case .remove, .removeAll: nil
      case .update, .save: Self.value
      default: "s3cret"
      }
    }

    var testDescription: String { "\(self)" }
  }

  /// Calls the body with a locked database that has one item.
  private func withLockedDatabase(
    _ screen: Screen? = nil, _ body: (PrivateBus, KeePassXC) throws -> Void
  ) throws {
    let (bus, keyring) = try PrivateBus.with { try KeePassXC(on: $0, screen: screen) }
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try keyring.lock()
    try body(bus, keyring)
    try keyring.kill()
  }

  private func expectOnly(
    _ password: String?, _ bus: PrivateBus, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let storage = bus.storage(.never)
    #expect(try storage.password(for: StorageUse.key) == password, sourceLocation: sourceLocation)
    let items = try storage.items(matching: ItemQuery(attributes: StorageUse.key.attributes))
    #expect(items.count == (password == nil ? 0 : 1), sourceLocation: sourceLocation)
  }

  // MARK: - A locked database

  /// The user of a locked database, who may not be asked, unlocks it, or declines.
  enum Reaction: CaseIterable { case isNotAsked, unlocks, declines }

  @Test(arguments: Operation.allCases, Reaction.allCases)
  func `an operation on a locked database goes on or loses nothing`(
    operation: Operation, reaction: Reaction
  ) throws {
    let screen = reaction == .isNotAsked ? nil : try Screen()
    try withLockedDatabase(screen) { bus, keyring in
      let isUnlocked = reaction == .unlocks
      let user = try screen.map { try Screen.User(isUnlocked ? .unlock() : .leaveLocked, at: $0) }
      let storage = bus.storage(reaction == .isNotAsked ? .never : .allowed)
      let failure = reaction == .isNotAsked ? "error locked" : "error userCanceled"
      let expected = isUnlocked ? operation.outcomeWhenUnlocked : failure
      #expect(try operation.outcome(storage) == expected)
      try user?.finish()
      if !isUnlocked { try keyring.unlock() }
      try expectOnly(isUnlocked ? operation.passwordAfterwards : "s3cret", bus)
    }
  }

  #if EncryptedFile
  @Test(arguments: [SecretServiceStorage.Interaction.never, .allowed])
  func `the key of a file is not replaced while its database is locked`(
    interaction: SecretServiceStorage.Interaction
  ) throws {
    let directory = TemporaryDirectory()
    func file(_ name: String, _ keyring: SecretServiceStorage) -> EncryptedFileStorage {
      EncryptedFileStorage(at: directory.path(name), key: .storage(keyring, key: StorageUse.key))
    }
    let screen = try Screen()
    let (bus, keyring) = try PrivateBus.with { try KeePassXC(on: $0, screen: screen) }
    try file("first", bus.storage()).setPassword("of the first", for: StorageUse.key)
    try keyring.lock()
    let user = interaction == .allowed ? try Screen.User(.unlock(), at: screen) : nil
    let saved = Result {
      try file("second", bus.storage(interaction)).setPassword("of the second", for: StorageUse.key)
    }
    try user?.finish()
    if user == nil {
      expectError(.locked) { try saved.get() }
      try keyring.unlock()
    } else {
      try saved.get()
      #expect(try file("second", bus.storage()).password(for: StorageUse.key) == "of the second")
    }
    #expect(try file("first", bus.storage()).password(for: StorageUse.key) == "of the first")
    #expect(
      try bus.storage().items(matching: ItemQuery(attributes: StorageUse.key.attributes)).count == 1
    )
  }
  #endif

  // MARK: - Observation

  /// KeePassXC reports each item of a database that it locks as deleted.
  @Test func `a lock removes no items for observers`() throws {
    let (bus, keyring) = try PrivateBus.with { try KeePassXC(on: $0) }
    let storage = bus.storage()
    let another = ItemKey.password(service: "service", account: "another")
    try storage.setPassword("s3cret", for: StorageUse.key)
    try storage.setPassword("s3cret", for: another)
    let log = try EventLog(of: storage, .service("service"))
    for _ in 0..<3 {
      try keyring.lock()
      log.wait(for: .locked)
      try keyring.unlock()
      try storage.setPassword(UUID().uuidString, for: StorageUse.key)
      log.wait(for: .changed(.replaced(StorageUse.key)))
    }
    // Items that had just changed may be reported again.
    #expect(Set(log.changes).isSubset(of: [.replaced(StorageUse.key), .replaced(another)]))
    try keyring.kill()
  }

  /// In a new installation, each item is locked for a connection that hasn't asked for it.
  @Test func `an item that may have changed is reported after a restart in a new installation`()
    throws
  {
    let (bus, keyring) = try PrivateBus.with { try KeePassXC(on: $0, confirming: true) }
    let log = try EventLog(of: bus.storage(.never), .key(StorageUse.key))
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    try keyring.end()
    log.wait(for: .interrupted)
    try keyring.start()
    log.wait(for: .changed(.replaced(StorageUse.key)))
    try keyring.kill()
  }

  /// The keyring would create the item without the secret.
  @Test func `a secret with a reference is refused with the reason`() throws {
    let storage = SecretServiceStorage()
    for secret in ["{REF:P@I:x}", "a{ref:u@o:b c}d"] {
      expectError(.invalidArgument, argument: "secret", says: "{REF:") {
        try storage.setPassword(secret, for: StorageUse.key)
      }
    }
    for secret in ["{REF:P@I:}", "{REF:P@I:x", "{REF:Z@I:x}", "{REF:"] {
      try storage.setPassword(secret, for: StorageUse.key)
      #expect(try storage.password(for: StorageUse.key) == secret)
    }
    try storage.remove(StorageUse.key)
  }
}
#endif
