// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

@testable import KeyringSecretService

/// A cache in front of a real keyring.
@Suite(.inPrivateSession, .timeLimit(.minutes(2))) struct CachedKeyringTests {
  private let storage = SecretServiceStorage()
  private let service = PrivateSession.newService()
  private var key: ItemKey { .password(service: service, account: "account") }

  // SecretServiceContractTests test the same contract with a sanitizer.
  @Test(.tags(.slow, .unsanitized), arguments: SecretServiceContractTests.unattended)
  func `each rule of the contract holds behind a cache`(rule: StorageContract) throws {
    try KnownLimitation.verify(rule) { try rule.verify(SecretServiceStorage().cached()) }
  }

  // SecretServiceContractTests test the same contract with a sanitizer.
  @Test(
    .only(on: .gnomeKeyring, "makes a collection as only gnome-keyring's own tools can"),
    .tags(.unsanitized),
    arguments: StorageContract.allCases.filter { $0.requirement == .locking })
  func `each rule of the contract holds behind a cache when locked`(rule: StorageContract) throws {
    try PasswordCollection.whileThere { collection, storage in
      try rule.verify(storage.cached()) { _ in try collection.unlock() }
    }
  }

  @Test func `an observer reads through a new cache`() throws {
    let cached = storage.cached()
    let (key, log) = (key, EventLog())
    let found = Mutex<Result<String?, SecureStorageError>?>(nil)
    let observation = try storage.observe(.service(service)) { event in
      if event == .changed(.created(key)) {
        found.withLock {
          $0 = Result { () throws(SecureStorageError) in try cached.password(for: key) }
        }
      }
      log.append(event)
    }
    try storage.setPassword("s3cret", for: key)
    log.wait(for: .changed(.created(key)))
    #expect(try found.withLock { $0 }?.get() == "s3cret")
    try storage.remove(key)
    _ = observation
  }

  /// Gives each thread keys of its own, and all threads the same cache.
  ///
  /// The test repeats one thing many times, which would take too long with a sanitizer.
  @Test(.tags(.slow, .unsanitized)) func `threads never read a value that they have overwritten`()
    throws
  {
    let cached = storage.cached()
    let shared = ItemKey.password(service: service, account: "shared")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      #expect(throws: Never.self) {
        let own = ItemKey.password(service: service, account: "\(thread)")
        for number in 0..<50 {
          try cached.setPassword("\(number)", for: own)
          for _ in 0..<3 { #expect(try cached.password(for: own) == "\(number)") }
          try cached.setPassword("\(thread)", for: shared)
          _ = try cached.password(for: shared)
        }
      }
    }
    #expect(try cached.password(for: shared) == storage.password(for: shared))
    try cached.removeItems(matching: .service(service))
  }

  @Test(.withOwnKeyring) func `a lost connection empties the cache`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let cached = bus.storage().cached()
    try cached.setPassword("s3cret", for: StorageUse.key)
    for _ in 0..<2 { #expect(try cached.password(for: StorageUse.key) == "s3cret") }
    try keyring.kill()
    #expect(
      waitUntil {
        do throws(SecureStorageError) {
          _ = try cached.password(for: StorageUse.key)
          return false
        } catch {
          return error.code == .noProvider
        }
      })
    try keyring.start()
    #expect(try cached.password(for: StorageUse.key) == "s3cret")
    try bus.kill()
    #expect(waitUntil { (try? cached.password(for: StorageUse.key) == "s3cret") == nil })
    try bus.start()
    try keyring.kill()
    try keyring.start()
    #expect(try waitUntil { try cached.password(for: StorageUse.key) == "s3cret" })
    try bus.storage().setPassword("another", for: StorageUse.key)
    #expect(try cached.password(for: StorageUse.key) == "another")
  }

  /// Restarts a provider, which then counts the items of the session collection from the beginning.
  @Test(.withOwnKeyring) func `paths of an earlier provider mean nothing`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let cached = SecretServiceStorage(
      options: .init(collection: .session, busAddress: bus.address)
    ).cached()
    let storage = storageOfAnotherProcess(on: bus, .session)
    let other = ItemKey.password(service: "service", account: "other")
    #expect(try cached.password(for: StorageUse.key) == nil)
    try storage.setPassword("s3cret", for: StorageUse.key)
    #expect(try waitUntil { try cached.password(for: StorageUse.key) == "s3cret" })
    try keyring.kill()
    try keyring.start()
    #expect(waitUntil { (try? cached.password(for: other) == nil) == true })
    // The cache is quiet once it has stored the item's absence.
    let isQuiet = try waitUntil {
      let monitor = try BusMonitor(on: bus)
      _ = try cached.password(for: other)
      return try monitor.finish().isEmpty
    }
    #expect(isQuiet)
    try storage.setPassword("again", for: other)
    #expect(try waitUntil { try cached.password(for: other) == "again" })
  }

  /// Returns a storage that shares no session with the cache, and informs it only through the bus.
  private func storageOfAnotherProcess(
    on bus: PrivateBus, _ collection: SecretServiceStorage.Collection = .default,
    serviceTimeout: Duration = .seconds(25)
  ) -> SecretServiceStorage {
    SecretServiceStorage(
      options: .init(
        collection: collection, serviceTimeout: serviceTimeout,
        busAddress: "\(bus.address);\(bus.address)", allowsUnencryptedSession: true))
  }

  /// Imitates gnome-keyring, which carries out the write and sends no signal.
  @Test(.withOwnKeyring) func `a write that timed out is seen`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    try service.sendNoSignalForSecrets()
    let cached = bus.storage().cached()
    try storageOfAnotherProcess(on: bus).setPassword("old", for: StorageUse.key)
    #expect(try waitUntil { try cached.password(for: StorageUse.key) == "old" })
    try service.fault("SetSecret", .late(30))
    expectError(.timedOut) {
      try storageOfAnotherProcess(on: bus, serviceTimeout: .seconds(1))
        .setPassword("new", for: StorageUse.key)
    }
    #expect(try waitUntil { try bus.storage().password(for: StorageUse.key) == "new" })
    #expect(try waitUntil { try cached.password(for: StorageUse.key) == "new" })
  }

  // The test counts the locked memory, and a sanitizer replaces mlock.
  @Test(.tags(.unsanitized)) func `the cache forgets a secret when its time is over`() throws {
    let cached = storage.cached(for: .seconds(2))
    try storage[key, as: .secret].write(Secret(bytes: [UInt8](repeating: 7, count: 1 << 20)))
    let before = try LockedMemory.kilobytes()
    #expect(try cached.secret(for: key)?.count == 1 << 20)
    #expect(try LockedMemory.kilobytes() >= before + (1 << 10))
    // The secret isn't read again.
    #expect(try waitUntil { try LockedMemory.kilobytes() < before + (1 << 10) })
    try storage.remove(key)
  }
}
#endif
