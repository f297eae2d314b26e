// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// Changes for which the provider sends no signal, and the signals that programs with this package send instead.
@Suite(.withOwnKeyring, .timeLimit(.minutes(2))) struct SilentChangeTests {
  private let bus: PrivateBus
  private let service: FakeService
  private let key = StorageUse.key

  init() throws {
    (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    try service.sendNoSignalForSecrets()
  }

  @Test func `a change that nobody reports takes effect after the lifetime`() throws {
    let limited = bus.storage().cached(for: .milliseconds(50))
    let unlimited = bus.storage().cached(for: nil)
    let item = try storeItem()
    #expect(try waitUntil { try keeps(unlimited) })
    try overwrite(item, "new")
    #expect(try waitUntil { try limited.password(for: key) == "new" })
    // It's still the item that was read before.
    #expect(try unlimited.password(for: key) == "old")
  }

  @Test(arguments: [
    ("org.kde.kwalletd5", true), ("org.keepassxc.KeePassXC.MainWindow", false), (nil, true),
    ("org.gnome.keyring", true),
  ])
  func `a cache has a lifetime if the keyring may not report a change`(
    name: String?, isLimited: Bool
  ) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    if let name { try service.takeName(name) }
    let storage = bus.storage()
    #expect(storage.cacheLifetime == .seconds(60))
    _ = try storage.isLocked()
    #expect(storage.cacheLifetime == (isLimited ? .seconds(60) : nil))
    let limit = isLimited ? ", for 60.0 seconds" : ""
    #expect("\(storage.cached())" == "CachedStorage(SecretServiceStorage\(limit))")
  }

  @Test func `an item is not cached until its writer has finished or left`() throws {
    let cached = bus.storage().cached(for: nil)
    let item = try storeItem()
    #expect(try waitUntil { try keeps(cached) })
    let log = try EventLog(of: bus.storage(), .key(key))
    var writer: BusConnection? = try bus.connect()
    announce(.changing, of: item, on: writer)
    log.wait(for: .changing(key))
    // Another program can't end the change.
    let another = try bus.connect()
    announce(.kept, of: item, on: another)
    announce(.set, of: item, on: another)
    log.wait(for: .mayHaveChanged(key))
    for _ in 0..<10 { #expect(try !keeps(cached)) }
    try overwrite(item, "new")
    writer = nil
    log.wait(for: .settled(key))
    #expect(try waitUntil { try keeps(cached) })
    #expect(try cached.password(for: key) == "new")
    log.wait(for: .changed(.replaced(key)))
    // A new observer is also notified.
    announce(.changing, of: item, on: another)
    log.wait(for: .changing(key))
    let later = try EventLog(of: bus.storage(), .key(key))
    announce(.kept, of: item, on: another)
    log.wait(for: .settled(key))
    later.wait(for: .settled(nil))
    #expect(try waitUntil { try keeps(cached) })
    _ = writer
  }

  /// A program may never say that its change has ended.
  @Test func `an announced change ends after a while`() throws {
    _ = ChangeMonitor.shared(at: bus.address, lookingEvery: .milliseconds(300))
    let cached = bus.storage().cached(for: nil)
    _ = try storeItem()
    #expect(try waitUntil { try keeps(cached) })
    let log = try EventLog(of: bus.storage(), .key(key))
    let writer = try bus.connect()
    // The item isn't in the collection.
    announce(.changing, of: ObjectPath("/org/freedesktop/secrets/collection/only/gone"), on: writer)
    log.wait(for: .changing(nil))
    log.wait(for: .settled(nil))
    #expect(try waitUntil { try keeps(cached) })
    _ = writer
  }

  /// Any number of programs may announce any number of changes.
  @Test func `only so many changes are in progress at a time`() throws {
    _ = try storeItem()
    let log = try EventLog(of: bus.storage(), .key(key))
    let item = try #require(try bus.search(key.attributes).first)
    let writers = try (0..<12).map { _ in try bus.connect() }
    for writer in writers {
      for _ in 0..<120 { announce(.changing, of: item, on: writer) }
      // The last one is seen regardless of the others.
      announce(.set, of: item, on: writer)
      log.wait(for: .settled(key))
    }
    #expect(log.count < 3000)
    #expect(log.changingCount <= 1000 + writers.count)
  }

  @Test func `a refused change ends`() throws {
    let cached = bus.storage().cached(for: nil)
    _ = try storeItem()
    let log = try EventLog(of: bus.storage(), .key(key))
    try service.fault("SetSecret", .error("org.example.Odd"))
    #expect(throws: SecureStorageError.self) { try bus.storage().setPassword("new", for: key) }
    log.wait(for: .changing(key))
    log.wait(for: .settled(key))
    try service.reset()
    #expect(try waitUntil { try keeps(cached) })
    #expect(try cached.password(for: key) == "old")
    #expect(log.changes.isEmpty)
  }

  @Test func `a write to an item that is gone changes nothing`() throws {
    _ = try storeItem()
    let monitor = try BusMonitor(on: bus, signals: true)
    try service.fault("SetSecret", .once("org.freedesktop.DBus.Error.UnknownObject"))
    try bus.storage().setPassword("new", for: key)
    let messages = try monitor.finish().filter { $0.hasPrefix("Secret") || $0 == "SetSecret" }
    let once = ["SecretChanging", "SetSecret"]
    #expect(messages == once + ["SecretKept"] + once + ["SecretSet"])
  }

  /// Any program can say that it has changed an item.
  @Test func `an item that looks the same has not changed`() throws {
    let item = try storeItem()
    try service.age(seconds: 10)
    let log = try EventLog(of: bus.storage(), .service("service"))
    let writer = try bus.connect()
    announce(.set, of: item, on: writer)
    log.wait(for: .mayHaveChanged(key))
    let other = ItemKey.password(service: "service", account: "other")
    try bus.storage().setPassword("s3cret", for: other)
    log.wait(for: .changed(.created(other)))
    #expect(log.changes == [.created(other)])
    // The times of both changes may be the same.
    for number in 1...2 {
      try overwrite(item, "\(number)")
      announce(.set, of: item, on: writer)
      log.wait(for: .changed(.replaced(key)))
    }
  }

  @Test func `a change that nobody reports is found by looking`() throws {
    _ = ChangeMonitor.shared(at: bus.address, lookingEvery: .milliseconds(50))
    let item = try storeItem()
    try service.age(seconds: 10)
    let log = try EventLog(of: bus.storage(), .service("service"))
    try overwrite(item, "new")
    log.wait(for: .changed(.replaced(key)))
    #expect(log.changes == [.replaced(key)])
  }

  // MARK: - Other programs

  /// Stores the item, and returns its path.
  private func storeItem() throws -> ObjectPath {
    try bus.storage().setPassword("old", for: key)
    return try #require(try bus.search(key.attributes).first)
  }

  /// Sets a secret as a program without this package does.
  private func overwrite(_ item: ObjectPath, _ text: String) throws {
    try openSession(at: bus.address).setSecret(text, of: item)
  }

  private func announce(
    _ step: KeyringSecretService.Provider.SilentChange.Step, of item: ObjectPath,
    on connection: BusConnection?
  ) {
    CallLoop.runToEnd { await connection?.announce(.secret, step, of: item) }
  }

  /// Reads the item twice, and returns `true` if the second read sends nothing.
  private func keeps(_ cached: CachedStorage<SecretServiceStorage>) throws -> Bool {
    _ = try cached.password(for: key)
    _ = try service.takeCalls()
    _ = try cached.password(for: key)
    return try service.takeCalls()["GetSecrets"] == nil
  }
}
#endif
