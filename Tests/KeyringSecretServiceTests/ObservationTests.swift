// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// Reports of changes to a keyring, regardless of the program that makes them.
@Suite(.inPrivateSession, .timeLimit(.minutes(2))) struct ObservationTests {
  private let storage = SecretServiceStorage()
  private let service = PrivateSession.newService()
  private var key: ItemKey { .password(service: service, account: "account") }

  /// Any program may send the signals that programs with this package use to announce a change.
  @Test(arguments: [(1000, "elsewhere/"), (5000, "x")])
  func `signals of other items are dropped, and hide no change`(
    count: Int, name: String
  ) throws {
    let log = try EventLog(of: storage, .service(service))
    let session = try openSession()
    let own = try session.ask(.readAlias("default")).child(0).text
    let isElsewhere = name == "elsewhere/"
    let path = isElsewhere ? "/org/freedesktop/secrets/collection/\(name)" : "\(own)/\(name)"
    for number in 0..<count {
      session.connection.broadcast(
        "SecretSet", of: "swift_keyring.Item", from: ObjectPath("\(path)\(number)"))
    }
    try storage.setPassword("s3cret", for: key)
    log.wait(for: .changed(.created(key)))
    // There were a thousand signals. KeePassXC reports its own collections many times.
    #expect(!isElsewhere || log.count < 500)
    try storage.remove(key)
  }

  @Test(arguments: [any OtherProgram].all)
  func `changes by another program are reported`(program: any OtherProgram) async throws {
    var changes = try await storage.changes(matching: .service(service)).makeAsyncIterator()
    try program.set("first", service: service, username: "account")
    #expect(await changes.next() == .created(key))
    try program.set("second", service: service, username: "account")
    #expect(await changes.next() == .replaced(key))
    try program.remove(service: service, username: "account")
    #expect(await changes.next() == .removed(key))
  }

  /// An item that another program has stored is found under keys of several kinds.
  @Test func `a change is reported with the key that was asked for`() async throws {
    let value = ItemKey.value(service: service, account: "account")
    var changes = try await storage.changes(matching: .key(value)).makeAsyncIterator()
    try SecretTool().set("1", service: service, username: "account")
    #expect(await changes.next() == .created(value))
    try await storage.remove(value)
    #expect(await changes.next() == .removed(value))
  }

  @Test(.withOwnKeyring) func `an observation that times out at its start leaves others alone`()
    throws
  {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let log = try EventLog(of: bus.storage(), .key(StorageUse.key))
    keyring.whileSuspended {
      expectError(.timedOut) {
        try bus.storage(serviceTimeout: .milliseconds(100)).observe(nil) { _ in }
      }
    }
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    let later = try bus.storage().observe(.key(StorageUse.key), log.append)
    try bus.storage().remove(StorageUse.key)
    log.wait(for: .changed(.removed(StorageUse.key)))
    log.wait(for: .changed(.removed(StorageUse.key)))
    _ = later
  }

  /// A new collection is found a moment after the first signal of its items.
  @Test func `any item may be in a collection that is not found yet`() {
    let log = EventLog()
    let collection = ObservedCollection(.named("new"), nil, log.append)
    #expect(collection.take(nil, ItemSignals()))
    let item = ObjectPath("/org/freedesktop/secrets/collection/new/1")
    collection.itemMayHaveChanged(item, .confirmed)
    log.wait(for: .mayHaveChanged(nil))
  }

  /// Once another program has removed our item, readers find the item of another program, which has another value.
  @Test(.only(on: .gnomeKeyring, "KWallet has one item with these attributes"))
  func `a removal that uncovers another item is reported as a replacement`() throws {
    try storage.setPassword("ours", for: key)
    try SecretTool.store(
      "theirs", label: "theirs", key.attributes.merging(["application": "python-keyring"]) { $1 })
    let log = try EventLog(of: storage, .key(key))
    #expect(try storage.password(for: key) == "ours")
    try SecretTool.clear(key.ownAttributes)
    #expect(try storage.password(for: key) == "theirs")
    log.wait(for: .changed(.replaced(key)))
    try storage.remove(key)
  }

  @Test(.withOwnKeyring) func `the last observer to end closes the connection`() async throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let storage = bus.storage()
    let before = try bus.connectionCount()
    var first: ItemChanges? = try await storage.changes(matching: .service(service))
    #expect(try bus.connectionCount() == before + 1)
    var second: ItemChanges? = try await storage.changes(matching: .service(service))
    #expect(try bus.connectionCount() == before + 1)
    first = nil
    try await storage.setPassword("s3cret", for: key)
    #expect(await second?.first { _ in true } == .created(key))
    second = nil
    #expect(try await waitUntil { try bus.connectionCount() <= before })
    _ = (first, second)
    try keyring.kill()
  }

  @Test func `observing without a bus throws an error`() async {
    let storage = SecretServiceStorage(options: .init(busAddress: "unix:path=/nonexistent"))
    let error = await expectError(.noSessionBus) { _ = try await storage.changes() }
    #expect(error?.operation == .observe)
  }
}

/// Reports of changes to a collection that is locked, unlocked, created and deleted.
@Suite(
  .inPrivateSession, .timeLimit(.minutes(2)),
  .only(on: .gnomeKeyring, "makes a collection as only gnome-keyring's own tools can"))
struct CollectionObservationTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `a lock is reported, and observing unlocks nothing`() throws {
    let collection = try PasswordCollection()
    defer { #expect(throws: Never.self) { try collection.delete() } }
    let storage = SecretServiceStorage(
      collection: .named(collection.label), interaction: .never)
    try storage.setPassword("s3cret", for: key)
    try storage.setPassword("s3cret", for: .password(service: "service", account: "kept"))
    let log = try EventLog(of: storage, .service("service"))
    for _ in 0..<3 {
      try storage.lock()
      log.wait(for: .locked)
      #expect(try storage.isLocked())
      // This observation starts while the collection is locked.
      let another = try EventLog(of: storage, .service("service"))
      #expect(try storage.isLocked())
      try collection.unlock()
      try storage.setPassword("another", for: key)
      log.wait(for: .changed(.replaced(key)))
      another.wait(for: .changed(.replaced(key)))
      // gnome-keyring 42.1 reports each item as changed after the unlock. If the observation reads the item
      // after the write and before the report of the write, it reports the same change twice.
      #expect(Set(another.changes) == [.replaced(key)] && another.changes.count <= 2)
    }
    #expect(Set(log.changes) == [.replaced(key)])
    #expect((3...6).contains(log.changes.count))
  }

  @Test func `an observation follows a collection that is deleted and recreated`() throws {
    let first = try PasswordCollection()
    let storage = SecretServiceStorage(collection: .named(first.label), interaction: .never)
    try storage.setPassword("s3cret", for: key)
    let log = try EventLog(of: storage, ItemQuery())
    try first.delete()
    log.wait(for: .changed(.removed(key)))
    let second = try PasswordCollection(label: first.label)
    try storage.setPassword("s3cret", for: key)
    log.wait(for: .changed(.created(key)))
    #expect(log.changes == [.removed(key), .created(key)])
    try second.delete()
  }
}

/// Observations while the bus or the provider dies and comes back.
@Suite(.withOwnKeyring, .timeLimit(.minutes(2))) struct ObservationRestartTests {
  private let key = ItemKey.password(service: "service", account: "account")
  private let kept = ItemKey.password(service: "service", account: "kept")

  /// The changes, without those of an item that may have changed during an interruption.
  ///
  /// It's known from the second of its last change.
  private func changes(_ log: EventLog) -> [ItemChange] {
    log.changes.filter { $0 != .replaced(kept) }
  }

  @Test(arguments: [false, true])
  func `an observation survives restarts of the bus or the provider`(ofTheBus: Bool) throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: kept)
    let log = try EventLog(of: storage, .service("service"))
    for _ in 0..<3 {
      if ofTheBus { try bus.kill() } else { try keyring.kill() }
      log.wait(for: .interrupted)
      if ofTheBus {
        try bus.start()
        // The keyring has ended with its bus.
        try keyring.kill()
      }
      try keyring.start()
      // The observer may not be connected again yet.
      try storage.setPassword("s3cret", for: key)
      log.wait(for: .changed(.created(key)))
      try storage.remove(key)
      log.wait(for: .changed(.removed(key)))
    }
    #expect(changes(log) == (0..<3).flatMap { _ in [.created(key), .removed(key)] })
  }

  /// The state on the disk of an item that was there before the keyring died.
  enum StateOnDisk: CaseIterable { case hasItem, hasNoSecret, hasNothing }

  /// Nothing is known of an item as long as the keyring is locked.
  @Test(.tags(.slow), arguments: StateOnDisk.allCases)
  func `an item is compared once a keyring that comes back locked is unlocked`(
    state: StateOnDisk
  ) throws {
    let bus = try PrivateBus()
    let disk = FakeService.Disk()
    let service = try FakeService(on: bus, modes: [.locked], disk: disk)
    let storage = bus.storage(.never)
    try service.unlock()
    try storage.setPassword("s3cret", for: key)
    // It's known for longer than the second of its change.
    try disk.edit { item in
      item.merging(["created": 1_000_000_000, "modified": 1_000_000_000]) { $1 }
    }
    try service.kill()
    try service.unlock()
    let cached = storage.cached(for: nil)
    #expect(try cached.password(for: key) == "s3cret")
    let log = try EventLog(of: storage, .service("service"))
    switch state {
    case .hasItem: break
    case .hasNoSecret: try disk.edit { $0.merging(["secret": ""]) { $1 } }
    case .hasNothing: try disk.edit { _ in nil }
    }
    try service.kill()
    log.wait(for: .locked)
    log.wait(for: .resumed)
    #expect(log.changes.isEmpty)
    for storage in [storage, cached] as [any SecureStorage] {
      expectError(.locked) { try storage.password(for: key) }
    }
    try service.unlock()
    // The events before the second one are complete.
    try storage.setPassword("new", for: kept)
    log.wait(for: .changed(.created(kept)))
    try storage.remove(kept)
    log.wait(for: .changed(.removed(kept)))
    let change: ItemChange = state == .hasNothing ? .removed(key) : .replaced(key)
    #expect(Set(log.changes) == [change, .created(kept), .removed(kept)])
    #expect(log.changes.count == 3)
    for storage in [storage, cached] as [any SecureStorage] {
      #expect(try storage.password(for: key) == (state == .hasItem ? "s3cret" : nil))
    }
  }

  /// Nothing else would show a second change in the same second.
  @Test func `a doubt about an item lasts until the keyring is unlocked`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let storage = bus.storage(.never)
    try storage.setPassword("s3cret", for: key)
    let log = try EventLog(of: storage, .key(key))
    // The observer reads the item right after this change, and therefore in the same second or the next one.
    try storage.setPassword("new", for: key)
    log.wait(for: .changed(.replaced(key)))
    try keyring.kill()
    try keyring.start(unlocked: false)
    log.wait(for: .locked)
    log.wait(for: .resumed)
    try storage.unlock(password: Secret(GnomeKeyring.typedPassword))
    log.wait(for: .changed(.replaced(key)))
  }

  /// The keyring has another file when it comes back.
  @Test func `changes during an interruption are reported afterwards`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    let storage = bus.storage()
    let replaced = ItemKey.credentials(service: "service", label: "replaced")
    try storage.setPassword("s3cret", for: kept)
    try storage[replaced, as: .credential].write(Credential(login: "old", password: "s3cret"))
    try storage.setPassword("s3cret", for: key)
    try keyring.keepFiles()
    try storage.remove(key)
    try storage[replaced, as: .credential].write(Credential(login: "new", password: "s3cret"))
    let created = ItemKey.password(service: "service", account: "created")
    try storage.setPassword("s3cret", for: created)
    let log = try EventLog(of: storage, .service("service"))
    try keyring.kill()
    try keyring.bringBackFiles()
    try keyring.start()
    log.wait(for: .resumed)
    #expect(Set(changes(log)) == [.created(key), .replaced(replaced), .removed(created)])
    #expect(changes(log).count == 3)
  }
}
#endif
