// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringSecretService

/// A program whose first call makes the bus start the keyring.
///
/// Each provider has the states that a user may have left: no collection, one beside the default one, and a locked one.
@Suite(.inPrivateSession) struct FirstCallTests {
  /// A kind of first call.
  enum FirstCall: CaseIterable {
    case read, exists, list, save, isLocked, awaits, observation, diagnosis, migration

    static let key = ItemKey.password(service: "service", account: "first")

    func callAsFunction(_ storage: SecretServiceStorage) async throws {
      if self != .awaits { return try block(storage) }
      let keys = ["first", "second", "third"].map {
        ItemKey.password(service: "service", account: $0)
      }
      async let first = storage.password(for: keys[0])
      async let second = storage.password(for: keys[1])
      async let third = storage.password(for: keys[2])
      #expect(try await [first, second, third] == [nil, nil, nil])
    }

    private func block(_ storage: SecretServiceStorage) throws {
      switch self {
      case .read: #expect(try storage.password(for: Self.key) == nil)
      case .exists: #expect(try !storage.exists(Self.key))
      case .list: #expect(try storage.items(matching: .service("service")).isEmpty)
      case .save: try storage.setPassword("first", for: Self.key)
      case .isLocked: _ = try storage.isLocked()
      case .awaits: break
      case .observation: _ = try storage.observe(.service("service")) { _ in }
      case .diagnosis: #expect(storage.diagnose(writing: true).failure == nil)
      case .migration:
        let old = InMemoryStorage()
        try old.setPassword("first", for: Self.key)
        #expect(try Migration(of: [Self.key], from: old, to: storage).move().count == 1)
      }
    }
  }

  @Test(.tags(.slow), arguments: FirstCall.allCases, SleepingKeyring.Start.ofProvider)
  func `the default collection is the user's`(
    first: FirstCall, start: SleepingKeyring.Start
  ) async throws {
    let keyring = try SleepingKeyring(.loginAndArchive, start)
    let storage = keyring.bus.storage()
    try await first(storage)
    try expectLogin(keyring)
  }

  @Test(.tags(.slow), arguments: FirstCall.allCases)
  func `a keyring that has crashed is started again`(first: FirstCall) async throws {
    let keyring = try SleepingKeyring(.loginAndArchive)
    let password = keyring.bus.storage().service("other").password("account")
    try await password.write("before")
    // The other providers write their files later, and when they lock a collection.
    if Provider.current != .gnomeKeyring { try await keyring.bus.storage().lock() }
    try keyring.kill()
    try await first(keyring.bus.storage())
    try expectLogin(keyring)
    #expect(try await password.read() == "before")
  }

  /// Expects that new items are in "Login", and survive the keyring.
  private func expectLogin(_ keyring: SleepingKeyring) throws {
    let storage = keyring.bus.storage()
    let login = storage.collection(labeled: SleepingKeyring.label)
    let key = ItemKey.password(service: "service", account: "account")
    try storage.setPassword("s3cret", for: key)
    #expect(try login.password(for: key) == "s3cret")
    #expect(try storage.collections().filter(\.isDefault).map(\.label) == [SleepingKeyring.label])
  }

  @Test(arguments: SleepingKeyring.Start.withoutLogin)
  func `without a collection, nothing is stored in that of the session`(
    start: SleepingKeyring.Start
  ) throws {
    let keyring = try SleepingKeyring(.none, start)
    // The other providers would offer to make a collection.
    let storage = keyring.bus.storage(Provider.current == .gnomeKeyring ? .allowed : .never)
    // KeePassXC doesn't list a database that isn't open.
    let listsAll = Provider.current != .keepassxc
    expectError(listsAll ? .noDefaultCollection : .locked) {
      try storage.setPassword("s3cret", for: FirstCall.key)
    }
    guard listsAll else { return }
    #expect(try storage.password(for: FirstCall.key) == nil)
    guard Provider.current == .gnomeKeyring else { return }
    let session = SecretServiceStorage(
      options: .init(collection: .session, busAddress: keyring.bus.address))
    #expect(try session.password(for: FirstCall.key) == nil)
  }

  @Test(arguments: SleepingKeyring.Start.withoutLogin)
  func `a locked keyring asks, and a prompt is answered`(start: SleepingKeyring.Start) throws {
    let keyring = try SleepingKeyring(.lockedLogin, start)
    let finish = try keyring.answerPrompt()
    let storage = keyring.bus.storage()
    try storage.setPassword("s3cret", for: FirstCall.key)
    try finish()
    #expect(
      try storage.collection(labeled: SleepingKeyring.label).password(for: FirstCall.key)
        == "s3cret")
  }

  @Test(arguments: SleepingKeyring.Start.withoutLogin)
  func `a locked keyring isn't an empty one`(start: SleepingKeyring.Start) throws {
    let keyring = try SleepingKeyring(.lockedLogin, start)
    expectError(.locked) { try keyring.bus.storage(.never).password(for: FirstCall.key) }
  }

  /// A process each, because a process remembers its session.
  ///
  /// The test has no sanitizer: GLib 2.74 leaks the arguments of libsecret's first call while there is no provider.
  @Test(.tags(.unsanitized), .only(on: .gnomeKeyring, "the others write their files later"))
  func `what one program stores, the next one reads`() throws {
    let keyring = try SleepingKeyring(.loginAndArchive)
    func run(_ arguments: String...) throws -> String {
      let worker = try Program(Program.workerPath, arguments, environment: keyring.bus.environment)
      let (status, output) = try worker.finish()
      #expect(status == 0)
      return String(decoding: output, as: UTF8.self)
    }
    _ = try run("save", "service", "token", "s3cret")
    #expect(try run("read", "service", "token", "never") == "s3cret\n")
    try keyring.kill()
    #expect(try run("read", "service", "token", "allowed") == "s3cret\n")
  }

  /// Each rule begins with a call that starts the keyring.
  @Test(
    .tags(.slow),
    .only(on: .gnomeKeyring, "the gate starts the others like that"),
    arguments: SecretServiceContractTests.unattended)
  func `a keyring that was just started keeps the contract`(rule: StorageContract) throws {
    let keyring = try SleepingKeyring(.lockedLogin, .login)
    try rule.verify(keyring.bus.storage())
  }

  @Test(.withOwnKeyring) func `another keyring doesn't pass for the first one`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let storage = bus.storage()
    let key = FirstCall.key
    try storage.setPassword("s3cret", for: key)
    let log = try EventLog(of: storage, .service("service"))
    try keyring.kill()
    let other = try FakeService(on: bus)
    for _ in 1...2 {
      // A diagnosis may be the reason to choose another storage, so it doesn't use up the error.
      #expect(storage.diagnose().failure == nil)
      expectError(.noProvider, says: "gnome-keyring", "unknown") {
        try storage.password(for: key)
      }
      // It's said once.
      #expect(try storage.password(for: key) == nil)
      // The first one comes back, and the fixture looks whether it's unlocked. That call fails, too.
      try other.end()
      try keyring.start()
      #expect(try storage.password(for: key) == "s3cret")
      try keyring.kill()
      try other.restart()
    }
    log.wait(for: .resumed)
    #expect(!log.changes.contains(.removed(key)))
  }
}
#endif
