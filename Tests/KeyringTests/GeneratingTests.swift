// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Values that are generated if none are stored.
@Suite struct GeneratingTests {
  struct Session: Codable, Equatable { var id: Int }

  struct Settings {
    @Password("key", orGenerate: .random(bytes: 32)) var key: Secret?
    @Password("token", orGenerate: "t0ken") var token: String?
    @Credentials("account") var account: Credential?
    @SecureValue("session", orGenerate: Session(id: 7), expiresAfter: .seconds(-1))
    var session: Session?
  }

  private let storage = FaultyStorage()
  private let settings = Settings()
  private let key = ItemKey.password(service: "service", account: "account")
  private let account = ItemKey.credentials(service: "service", label: "account")
  private let session = ItemKey.value(service: "service", account: "session")

  // MARK: - Storages

  @Test func `a missing value is generated once and stored`() throws {
    var calls = 0
    let new = try storage[key].readOrStore {
      calls += 1
      return "new"
    }
    #expect(new == "new" && calls == 1)
    #expect(try storage[key].readOrStore { "another" } == "new")
    #expect(try storage[key, as: .secret].readOrStore { Secret("another") } == Secret("new"))
    let credential = Credential(login: "ada", password: "pa55")
    for new in [credential, Credential(login: "bob", password: "pa55")] {
      #expect(try storage[account, as: .credential].readOrStore { new } == credential)
    }
    for id in 1...2 {
      let found = try storage[session, as: .value(Session.self)].readOrStore { Session(id: id) }
      #expect(found == Session(id: 1))
    }
  }

  @Test(arguments: [
    SecureStorageError.Code.locked, .userCanceled, .accessDenied, .timedOut, .damaged, .wrongKey,
  ])
  func `a storage that can't be read generates nothing`(
    code: SecureStorageError.Code
  ) async throws {
    storage.fail(.read, with: code)
    expectError(code) { () throws in
      try storage[key].readOrStore {
        Issue.record("a value was generated")
        return "new"
      }
    }
    await expectError(code) {
      try await storage[key].readOrStore {
        Issue.record("a value was generated")
        return "new"
      }
    }
    withSecureStorage(storage) {
      #expect(settings.key == nil && settings.$key.failure?.code == code)
      #expect(settings.token == nil && settings.session == nil)
    }
    #expect(storage.count(of: .save) == 0)
  }

  @Test func `a value of another type is neither returned nor replaced`() throws {
    try storage[key, as: .secret].write(Secret(bytes: [0xFF]))
    expectError(.undecodable) { try storage[key].readOrStore { "new" } }
    #expect(try storage.secret(for: key) == Secret(bytes: [0xFF]))
  }

  @Test func `a value that can't be stored isn't returned`() throws {
    storage.fail(.save, with: .userCanceled)
    expectError(.userCanceled) { try storage[key].readOrStore { "new" } }
    withSecureStorage(storage) {
      #expect(settings.token == nil && settings.$token.failure?.code == .userCanceled)
      storage.reset()
      #expect(settings.token == "t0ken" && settings.$token.failure == nil)
    }
  }

  @Test func `a value that another program adds first is returned`() throws {
    let value = try storage[key].readOrStore { () throws(SecureStorageError) in
      try storage.setPassword("theirs", for: key)
      return "ours"
    }
    #expect(value == "theirs")
    #expect(try storage.password(for: key) == "theirs")
  }

  /// On a keyring, two programs that add an item at the same moment may both remove theirs again.
  @Test func `an item that vanishes after a refused addition is added`() throws {
    let refusals = Mutex(0)
    let vanishing = VanishingStorage(refusals: 3) { refusals.withLock { $0 += 1 } }
    var calls = 0
    let value = try vanishing[key].readOrStore {
      calls += 1
      return "ours"
    }
    #expect(value == "ours" && calls == 1)
    #expect(refusals.withLock { $0 } == 3)
  }

  @Test(.timeLimit(.minutes(1))) func `a task that is cancelled stops trying`() async throws {
    let (attempts, continuation) = AsyncStream.makeStream(of: Void.self)
    // Without it, the attempts would be over before the cancellation.
    let isCancelled = DispatchSemaphore(value: 0)
    let vanishing = VanishingStorage(refusals: .max) {
      continuation.yield()
      isCancelled.wait()
      isCancelled.signal()
    }
    let task = Task { [key] in try await vanishing[key].readOrStore { "ours" } }
    for await _ in attempts { break }
    task.cancel()
    isCancelled.signal()
    await expectError(.canceled) { try await task.value }
  }

  @Test func `a value that has expired is returned as it is`() throws {
    let new = try storage[key, as: .text.expiring(after: .seconds(-1))].readOrStore { "new" }
    #expect(new == "new")
    #expect(try storage.item(for: key)?.expires != nil)
    #expect(
      try storage[key, as: .text.expiring(after: .seconds(60))].readOrStore { "another" } == "new")
  }

  @Test func `layers store in the one that is written`() throws {
    let (first, second) = (InMemoryStorage(), InMemoryStorage())
    let layered = LayeredStorage([.reading(first), .writing(storage), .reading(second)])
    #expect(try layered[key].readOrStore { "new" } == "new")
    #expect(try storage.password(for: key) == "new")
    let other = ItemKey.password(service: "service", account: "other")
    try second.setPassword("given", for: other)
    #expect(try layered[other].readOrStore { "new" } == "given")
    #expect(try !storage.exists(other) && !first.exists(other))

    // A layer that can't be reached may have the value.
    let unreachable = FaultyStorage()
    unreachable.fail(.read, with: .connectionLost)
    let optional = LayeredStorage([.reading(unreachable, isRequired: false), .writing(storage)])
    let last = ItemKey.password(service: "service", account: "last")
    expectError(.connectionLost) { try optional[last].readOrStore { "new" } }
    #expect(try !storage.exists(last))

    let readOnly = LayeredStorage([.reading(first)])
    expectError(.readOnly) { try readOnly[last].readOrStore { "new" } }
  }

  // MARK: - Properties

  @Test func `a read of a declaration that generates stores the value`() throws {
    try withSecureStorage(storage) { () throws in
      let key = try #require(settings.key)
      #expect(key.count == 32)
      #expect(settings.key == key && Settings().key == key)
      #expect(try settings.$key.read() == key)
      #expect(try settings.$key.readOrStore { Secret("another") } == key)
      #expect(settings.session == Session(id: 7) && settings.session == Session(id: 7))
      #expect(try settings.$session.dates()?.isExpired == true)

      try settings.$key.remove()
      let next = settings.key
      #expect(next != nil && next != key)
      settings.token = "assigned"
      #expect(settings.token == "assigned")
    }
  }

  @Test func `a read with await of a declaration that generates stores the value`() async throws {
    try await withSecureStorage(storage) { () async throws in
      #expect(try await settings.$token.read() == "t0ken")
      #expect(try await settings.$token.exists())
      let account = try await settings.$account.readOrStore {
        Credential(login: "bob", password: "pa55")
      }
      #expect(account.login == "bob" && settings.account?.login == "bob")
    }
  }

  @Test func `looking, reading all, copying and printing generate nothing`() throws {
    try withSecureStorage(storage) { () throws in
      let properties = try SecureProperties(of: settings)
      #expect(try !settings.$key.exists())
      #expect(try settings.$key.dates() == nil && settings.$key.origin() == nil)
      #expect(try properties.readAll()[settings.$key] == nil)
      #expect(properties.entries().allSatisfy { !$0.isStored && $0.failure == nil })
      #expect(try properties.copy(to: InMemoryStorage()) == 0)
      #expect(try properties.removeAll().count == 0)
      for (_, text) in Renderings.of(settings) { #expect(!text.contains("t0ken")) }
      _ = "\(settings) \(settings.$key)"
    }
    #expect(storage.count(of: .save) == 0)
  }

  @Test func `a property without a declared value can generate one`() throws {
    try withSecureStorage(storage) { () throws in
      struct Plain {
        @Password("plain") var plain: String?
        @Password("theme", default: "light") var theme: String
      }
      let plain = Plain()
      #expect(try plain.$plain.readOrStore { "new" } == "new")
      #expect(try plain.$plain.readOrStore { "another" } == "new" && plain.plain == "new")
      #expect(try plain.$theme.readOrStore { "dark" } == "dark" && plain.theme == "dark")
    }
  }

  @Test func `random secrets differ`() {
    let secrets = (0..<8).map { _ in Secret.random(bytes: 16) }
    #expect(secrets.allSatisfy { $0.count == 16 })
    #expect(!secrets.dropFirst().contains(secrets[0]))
    #expect(Secret.random(bytes: 0).count == 0)
  }
}

/// A storage that refuses some additions although it has no item.
private final class VanishingStorage: BlockingStorage, ForwardingStorage {
  let refusals: Int
  let onRefusal: @Sendable () -> Void
  let base = InMemoryStorage()
  private let count = Mutex(0)

  init(refusals: Int, onRefusal: @escaping @Sendable () -> Void) {
    (self.refusals, self.onRefusal) = (refusals, onRefusal)
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    let isRefused = count.withLock { count in
      count += 1
      return count <= refusals
    }
    if isRefused {
      onRefusal()
      throw error(.itemAlreadyExists, during: .save)
    }
    try base.save(item, mode: mode)
  }
}
