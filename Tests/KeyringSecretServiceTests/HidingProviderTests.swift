// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringMigration
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

@testable import KeyringSecretService

/// Hypothetical providers, each of which hides locked items in a different way.
@Suite(.withOwnKeyring) struct HidingProviderTests {
  typealias Hiding = FakeService.Hiding

  private let bus: PrivateBus
  private let service: FakeService

  init() throws {
    bus = try PrivateBus()
    service = try FakeService(on: bus)
  }

  private static let rules = StorageContract.allCases.filter {
    $0 != .lockedItemsAreListed && $0.requirement != .restart
  }

  /// The rules whose items and bytes are so many that the provider, a script, takes seconds for each.
  ///
  /// They aren't about what a provider hides, so one provider is enough.
  private static let longRules: Set<StorageContract> = [
    .bytesComeBack, .keysNeverCollide, .internetPasswordsNeverCollide,
  ]

  /// The rules share a provider, because starting one takes longer than most of them.
  ///
  /// `SecretServiceContractTests` test the same contract with a sanitizer.
  @Test(.tags(.slow, .unsanitized), arguments: Hiding.allCases)
  func `each rule of the contract holds on a hiding provider`(hiding: Hiding) throws {
    try service.quiet()
    try service.hide(hiding)
    nonisolated(unsafe) let service = service
    for rule in Self.rules {
      // A missing collection isn't locked either. The tests below cover it.
      if hiding == .collection, rule.requirement == .locking { continue }
      if hiding != .none, Self.longRules.contains(rule) { continue }
      do {
        try rule.verify(bus.storage(rule.requirement == .locking ? .never : .allowed)) { _ in
          try service.unlock()
        }
      } catch {
        Issue.record(error, "\(rule)")
      }
      try service.unlock()
    }
  }

  @Test(
    .tags(.slow),
    arguments: Hiding.allCases.filter { $0 != .collection },
    StorageUse.allCases.filter { $0 != .lock })
  func `every use unlocks the collection first`(hiding: Hiding, use: StorageUse) throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.hide(hiding)
    try service.lock()
    if use != .propertyRead {
      try use(storage)
    } else {
      #expect(Password("account", service: "service", storage: storage).wrappedValue == "s3cret")
    }
    #expect(try !storage.isLocked())
    #expect(try storage.password(for: StorageUse.key) == (use == .remove ? nil : "s3cret"))
    #expect(
      try storage.items(matching: .service("service")).count
        == (use == .add ? 2 : use == .remove ? 0 : 1))
  }

  /// A list of the visible items would be mistaken for all of them.
  @Test(.tags(.slow), arguments: Hiding.allCases)
  func `nothing is absent or listed while the collection is locked`(hiding: Hiding) throws {
    let absent = ItemKey.password(service: "service", account: "absent")
    try StorageUse.save(bus.storage())
    try service.hide(hiding)
    try service.lock()
    var query = ItemQuery.service("service")
    query.allowsUnlocking = false
    expectError(.locked) { _ = try bus.storage().items(matching: query) }
    let storage = bus.storage(.never)
    // In the second round, the storage could know the absence from the first.
    for _ in 0..<2 {
      for operation in [
        { _ = try storage.password(for: absent) }, { _ = try storage.exists(absent) },
        { _ = try storage.items(for: [absent, StorageUse.key], details: .all) },
        { _ = try storage.items(matching: .key(absent)) },
        { _ = try storage.items(matching: .service("other")) },
        { try storage.setPassword("s3cret", for: absent, mode: .add) },
        { try storage.setPassword("s3cret", for: absent, mode: .update) },
        { try storage.setPassword("s3cret", for: absent) }, { _ = try storage.remove(absent) },
      ] as [() throws -> Void] { expectError(.locked) { try operation() } }
    }
    try service.unlock()
    for _ in 0..<2 { #expect(try storage.password(for: absent) == nil) }
    try service.lock()
    expectError(.locked) { _ = try storage.password(for: absent) }
  }

  /// KeePassXC 2.7.10 crashes if a search arrives while it unlocks a database.
  @Test func `a collection that hides its items is searched once it was seen unlocked`() throws {
    let storage = bus.storage(.never)
    try StorageUse.save(storage)
    try service.hide(.items)
    try service.lock()
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
    let monitor = try BusMonitor(on: bus)
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
    let messages = try monitor.finish()
    #expect(messages.contains("Get"))
    #expect(!messages.contains("SearchItems"))
    try service.unlock()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    // From then on, a read takes one wait, as elsewhere.
    let session = try openSession(at: bus.address)
    let before = session.connection.waits.load(ordering: .relaxed)
    let path = try #require(session.seenUnlocked.keys.first)
    let seen = try #require(session.seenUnlocked[path])
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    #expect(session.connection.waits.load(ordering: .relaxed) == before + 1)
    // A complete search shows it again.
    let absent = ItemKey.password(service: "service", account: "absent")
    #expect(try storage.password(for: absent) == nil)
    #expect(try #require(session.seenUnlocked[path]) > seen)
  }

  @Test(arguments: [nil, "org.keepassxc.KeePassXC.MainWindow"])
  func `a collection that hides its items is not searched before it was seen`(
    name: String?
  ) throws {
    if let name { try service.takeName(name) }
    try service.hide(.items)
    try service.lock()
    let monitor = try BusMonitor(on: bus)
    expectError(.locked) { _ = try bus.storage(.never).password(for: StorageUse.key) }
    let messages = try monitor.finish()
    #expect(messages.contains("OpenSession"))
    #expect(!messages.contains("SearchItems"))
  }

  @Test func `another default collection is chosen while the first one is locked`() throws {
    let storage = bus.storage(.never)
    try StorageUse.save(storage)
    try service.hide(.items)
    try service.lock()
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
    // It's the first one by name.
    try service.makeSecondCollection(named: "a")
    #expect(try storage.password(for: StorageUse.key) == nil)
  }

  @Test func `a lock is that of the collection that is chosen by now`() throws {
    let storage = bus.storage(.never)
    try StorageUse.save(storage)
    try service.hide(.items)
    try service.makeSecondCollection(named: "a")
    try storage.lock()
    #expect(try storage.isLocked())
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
  }

  private func storageWithLockedItem(_ hiding: Hiding) throws -> SecretServiceStorage {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.hide(hiding)
    try service.lockItems()
    return storage
  }

  @Test(arguments: [Hiding.each, .attributes])
  func `a locked item in an unlocked collection is not absent`(hiding: Hiding) throws {
    let storage = try storageWithLockedItem(hiding)
    var query = ItemQuery.service("service")
    query.allowsUnlocking = false
    if hiding == .each {
      #expect(try storage.items(matching: query).count == 1)
    } else {
      expectError(.locked) { _ = try storage.items(matching: query) }
    }
    expectError(.itemAlreadyExists) {
      try storage.setPassword("another", for: StorageUse.key, mode: .add)
    }
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test(arguments: [Hiding.each, .attributes])
  func `an item that stays locked after it was unlocked is an error`(hiding: Hiding) throws {
    let storage = try storageWithLockedItem(hiding)
    try service.unlockNothing()
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
    expectError(.locked) { _ = try storage.items(matching: .service("service", details: .all)) }
    try service.reset()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test func `a query that may not unlock anything asks for no unlocking`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    var query = ItemQuery.service("service", details: .all)
    query.allowsUnlocking = false
    try service.fault("GetSecrets", .error("org.freedesktop.Secret.Error.IsLocked"))
    _ = try service.takeCalls()
    expectError(.locked) { _ = try storage.items(matching: query) }
    #expect(try service.takeCalls()["Unlock"] == nil)
  }

  /// Adds a rival between the search and the creation, as while a user answers a question.
  @Test(arguments: [false, true])
  func `adding replaces no item that appears during the call`(isAsked: Bool) throws {
    let storage = bus.storage()
    try service.addRival("theirs")
    if isAsked { try service.fault("CreateItem", .prompt(.accept)) }
    expectError(.itemAlreadyExists) {
      try storage.setPassword("ours", for: StorageUse.key, mode: .add)
    }
    try service.reset()
    #expect(try storage.password(for: StorageUse.key) == "theirs")
    #expect(try storage.items(matching: .service("service")).count == 1)
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  @Test(.tags(.slow), arguments: Hiding.allCases) func `a migration overwrites nothing`(
    hiding: Hiding
  ) throws {
    let destination = bus.storage()
    try destination.setPassword("theirs", for: StorageUse.key)
    try service.hide(hiding)
    try service.lock()
    let source = InMemoryStorage()
    try source.setPassword("ours", for: StorageUse.key)
    let migration = Migration(of: .service("service"), from: source, to: destination)
    #expect(throws: SecureStorageError.self) { try migration.move() }
    #expect(try source.password(for: StorageUse.key) == "ours")
    try service.unlock()
    #expect(try destination.password(for: StorageUse.key) == "theirs")
  }

  #if EncryptedFile
  @Test(arguments: Hiding.allCases) func `a stored key is not replaced`(hiding: Hiding) throws {
    let directory = TemporaryDirectory()
    func file(_ name: String) throws -> EncryptedFileStorage {
      EncryptedFileStorage(
        at: directory.path(name), key: .storage(bus.storage(), key: StorageUse.key))
    }
    let key = ItemKey.password(service: "app", account: "me")
    try file("first").setPassword("s3cret", for: key)
    try service.hide(hiding)
    try service.lock()
    // The save unlocks the keyring, or fails where there is nothing to unlock.
    let isMade = (try? file("second").setPassword("other", for: key)) != nil
    #expect(isMade == (hiding != .collection))
    try service.unlock()
    #expect(try file("first").password(for: key) == "s3cret")
  }
  #endif

  // MARK: - Secrets that never arrived

  /// Adds the item, whose secret never arrives.
  private func addLostItem() throws -> SecretServiceStorage {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key, mode: .add)
    try service.forgetLastSecret()
    return storage
  }

  @Test func `a new item whose secret never arrived is absent`() throws {
    let storage = try addLostItem()
    for _ in 0..<2 {
      #expect(try storage.password(for: StorageUse.key) == nil)
      #expect(try storage.items(matching: .service("service", details: .all)).isEmpty)
    }
    try storage.setPassword("another", for: StorageUse.key, mode: .add)
    #expect(try storage.password(for: StorageUse.key) == "another")
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  /// Nothing is stored beside an item that can't be removed, which would come first.
  @Test(
    arguments: [
      (.error("org.example.Error.Odd"), .other), (.prompt(.dismiss), .userCanceled),
    ] as [(FakeService.Fault, SecureStorageError.Code)])
  func `nothing is added if an item whose secret never arrived can not be removed`(
    fault: FakeService.Fault, code: SecureStorageError.Code
  ) throws {
    let storage = try addLostItem()
    try service.fault("Delete", fault)
    expectError(code) { try storage.setPassword("another", for: StorageUse.key, mode: .add) }
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  private static let old = Credential(login: "old", password: "pa55")
  private static let new = Credential(login: "new", password: "word")

  /// Returns the login that the tests replace.
  private func account(in storage: SecretServiceStorage? = nil) -> StoredValue<Credential> {
    (storage ?? bus.storage())[
      .credentials(service: "service", label: "label"), as: .credential]
  }

  /// Replaces a login by one whose secret never arrives, as if the provider had died before the deletion.
  private func writeLostLogin() throws {
    try service.fault("Delete", .error("org.example.Error.Odd"))
    try account().write(Self.new)
    try service.reset()
    try service.forgetLastSecret()
  }

  @Test func `a login whose secret never arrived replaces nothing`() throws {
    // gnome-keyring writes secrets at once, so no old item has to stay until the next save.
    try service.takeName("org.gnome.keyring")
    let (storage, account) = (bus.storage(), account())
    try account.write(Self.old)
    try writeLostLogin()
    for _ in 0..<2 {
      #expect(try account.read() == Self.old)
      let items = try storage.items(matching: .service("service", details: .all))
      #expect(items.compactMap(\.secret?.text) == ["pa55"])
    }
    // The next login replaces the old one, not the one that never arrived.
    let next = Credential(login: "next", password: "next")
    try account.write(next)
    #expect(try account.read() == next)
    #expect(try bus.search(["service": "service"]).count == 1)
    try account.write(Self.old)
    // A save of only the secret keeps the login that was read.
    try storage.save(SecureItem(key: account.key, secret: Secret("pa55 2")), mode: .update)
    #expect(try account.read() == Credential(login: "old", password: "pa55 2"))
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  /// Expects the complete item of another program while ours isn't complete.
  @Test func `a login whose secret never arrived hides no item of another program`() throws {
    try service.takeName("org.gnome.keyring")
    let account = account()
    try openSession(at: bus.address).createItem(
      ["service": "service", "label": "label", "username": "old"], secret: "pa55", replacing: true)
    try writeLostLogin()
    #expect(try account.read() == Self.old)
    expectError(.itemAlreadyExists) { try account.write(Self.new, mode: .add) }
    #expect(try account.read() == Self.old)
  }

  @Test func `an item whose secret never arrived is neither updated nor listed`() throws {
    let storage = bus.storage()
    let other = ItemKey.password(service: "service", account: "other")
    try storage.setPassword("other", for: other)
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.forgetLastSecret()
    expectError(.itemNotFound) {
      try storage.setPassword("another", for: StorageUse.key, mode: .update)
    }
    let query = ItemQuery(attributes: ["service": "service"], details: .all, limit: 1)
    #expect(try storage.items(matching: query).map(\.key) == [other])
  }

  @Test func `a secret that becomes empty along with a new label is not absent`() throws {
    let storage = bus.storage()
    try storage.save(
      SecureItem(key: StorageUse.key, secret: Secret("s3cret"), label: "A label"),
      mode: .addOrReplace)
    try storage.save(
      SecureItem(key: StorageUse.key, secret: Secret(""), label: "Another"), mode: .addOrReplace)
    let item = try storage.item(for: StorageUse.key)
    #expect(item?.secret == Secret("") && item?.label == "Another")
    // The replaced item stays, because nothing says when the new one is on disk.
    #expect(try bus.search(["service": "service"]).count == 2)
  }

  @Test(arguments: [
    FakeService.Fault.prompt(.dismiss), .prompt(.mute), .error("org.example.Error.Odd"),
  ])
  func `a replaced item that can not be removed is no failure`(fault: FakeService.Fault) throws {
    try service.takeName("org.gnome.keyring")
    try service.takeName("org.gnome.keyring.SystemPrompter")
    let account = account(in: bus.storage(promptTimeout: .milliseconds(200)))
    try account.write(Self.old)
    try service.fault("Delete", fault)
    try account.write(Self.new)
    #expect(try account.read() == Self.new)
    try service.reset()
    try account.write(Self.new)
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  @Test func `a user who declines the removal of a replaced item isn't asked again`() throws {
    try service.takeName("org.gnome.keyring")
    try service.takeName("org.gnome.keyring.SystemPrompter")
    try account().write(Self.old)
    // After a question, other items may have appeared.
    try service.fault("CreateItem", .prompt(.accept))
    try service.fault("Delete", .prompt(.dismiss))
    _ = try service.takeCalls()
    try account().write(Self.new)
    let calls = try service.takeCalls()
    #expect(calls["Delete"] == 1)
    #expect(try account().read() == Self.new)
  }

  @Test func `a keyring that is locked after a save is no failure of the save`() throws {
    let account = account(in: bus.storage(.never))
    try account.write(Self.old)
    try service.lockAfterCreation()
    try account.write(Self.new)
    try service.unlock()
    #expect(try account.read() == Self.new)
  }

  /// A keyring that is gone may not have kept the new value either.
  @Test func `a keyring that hangs or ends after a save is a failure`() throws {
    try service.takeName("org.gnome.keyring")
    try account().write(Self.old)
    try service.fault("Delete", .mute)
    expectError(.timedOut) {
      try account(in: bus.storage(serviceTimeout: .seconds(1))).write(Self.new)
    }
    try service.fault("Delete", .leave)
    expectError(.connectionLost) {
      try account().write(Credential(login: "newer", password: "word"))
    }
  }

  @Test func `an intended empty secret is not absent`() throws {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    for mode in [SaveMode.add, .update] {
      try storage.setPassword("", for: StorageUse.key, mode: mode)
      #expect(try storage.password(for: StorageUse.key) == "")
      try storage.setPassword("s3cret", for: StorageUse.key)
    }
    try storage.setPassword("", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "")
    // A new item doesn't inherit that its secret may be empty.
    try service.fault("Delete", .error("org.example.Error.Odd"))
    try storage.save(
      SecureItem(key: StorageUse.key, secret: Secret("s"), attributes: ["a": "b"]), mode: .update)
    try service.reset()
    try service.forgetLastSecret()
    #expect(try storage.password(for: StorageUse.key) == "")
  }

  /// Makes two items at once, so that neither is the predecessor of the other.
  ///
  /// A predecessor has to stay where secrets are written late.
  @Test func `the next save leaves one of two items made at the same time`() throws {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    for secret in ["first", "second"] {
      try openSession(at: bus.address).createItem(StorageUse.key.newAttributes, secret: secret)
    }
    #expect(try storage.password(for: StorageUse.key) == "first")
    try storage.setPassword("third", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "third")
    #expect(try bus.search(["service": "service"]).count == 1)
  }

  // MARK: - A default collection that moves

  @Test func `a collection that ends with the session is never chosen`() throws {
    try service.makeSessionCollection(named: "brief")
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    let found = try bus.search(["service": "service"])
    #expect(found.map(\.collection.text) == ["/org/freedesktop/secrets/collection/only"])
    let paths = ["work", "session", "zoo"].map {
      ObjectPath("/org/freedesktop/secrets/collection/\($0)")
    }
    #expect(ObjectPath.chosen(from: paths) == paths[0])
    #expect(ObjectPath.chosen(from: [paths[1]]) == nil)
    #expect(ObjectPath.chosen(from: []) == nil)
  }

  @Test(arguments: ["org.gnome.keyring", "org.kde.kwalletd5", "org.kde.ksecretd"])
  func `a default collection that only the user moves is used`(name: String) throws {
    try service.takeName(name)
    try service.makeSecondCollection()
    try service.moveDefault()
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    let paths = try bus.search(["service": "service"])
    #expect(paths.count == 1 && paths.allSatisfy { $0.collection.text.hasSuffix("/second") })
  }

  @Test func `a default collection that moves does not split the items`() throws {
    let storage = bus.storage()
    let second = ItemKey.password(service: "service", account: "second")
    try service.makeSecondCollection()
    try storage.setPassword("first", for: StorageUse.key)
    try service.moveDefault()
    #expect(try storage.password(for: StorageUse.key) == "first")
    try storage.setPassword("changed", for: StorageUse.key)
    try storage.setPassword("second", for: second)
    expectError(.itemAlreadyExists) {
      try storage.setPassword("again", for: StorageUse.key, mode: .add)
    }
    #expect(try storage.items(matching: .service("service")).count == 2)
    for path in try bus.search(["service": "service"]) {
      #expect(path.collection.text.hasSuffix("/only"))
    }
    #expect(try storage.collections().filter(\.isDefault).map(\.label) == ["Only"])
    #expect(try storage.removeItems(matching: .service("service")) == 2)
  }

  /// The user of KeePassXC may open a database at any time, and another program may save there first.
  @Test func `a known item is read from the collection that is chosen by now`() throws {
    let storage = bus.storage()
    try storage.setPassword("old", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "old")
    try service.makeSecondCollection(named: "first")
    try openSession(at: bus.address).createItem(
      StorageUse.key.ownAttributes, label: "label", secret: "new",
      in: ObjectPath("/org/freedesktop/secrets/collection/first"))
    #expect(try storage.password(for: StorageUse.key) == "new")
  }

  @Test func `a locked collection may contain the item`() throws {
    let storage = bus.storage(.never)
    try StorageUse.save(storage)
    try service.hide(.items)
    try service.lock()
    try service.makeSecondCollection()
    try service.moveDefault()
    [StorageUse.read, .find, .save, .add, .remove].expectFailures(.locked, storage)
    try service.unlock()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test func `no observer takes an item that hides its attributes for removed`() throws {
    let storage = bus.storage()
    let second = ItemKey.password(service: "service", account: "second")
    try storage.setPassword("first", for: StorageUse.key)
    try service.hide(.attributes)
    let log = try EventLog(of: storage, .service("service"))
    try service.lockItems()
    try storage.setPassword("second", for: second)
    log.wait(for: .changed(.created(second)))
    #expect(log.changes == [.created(second)])
  }

  @Test func `no observer takes items for removed that are hidden while they are listed`() throws {
    let storage = bus.storage()
    try StorageUse.save(storage)
    try service.hide(.items)
    let log = try EventLog(of: storage, .service("service"))
    try service.fault("SearchItems", .lock)
    // Another collection may have taken the place of this one, so its items are listed again.
    try service.makeSecondCollection()
    log.wait(for: .locked)
    try service.unlock()
    let second = ItemKey.password(service: "service", account: "second")
    try storage.setPassword("second", for: second)
    log.wait(for: .changed(.created(second)))
    #expect(log.changes == [.created(second)])
  }

  @Test func `an observer stays with its collection`() throws {
    let storage = bus.storage()
    let log = try EventLog(of: storage, .service("service"))
    try storage.setPassword("first", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    try service.makeSecondCollection()
    try service.moveDefault()
    try storage.setPassword("changed", for: StorageUse.key)
    log.wait(for: .changed(.replaced(StorageUse.key)))
  }

  @Test(arguments: [nil, "org.gnome.keyring"])
  func `items are reported as removed if another collection takes the place of theirs`(
    name: String?
  ) throws {
    if let name { try service.takeName(name) }
    let storage = bus.storage()
    try storage.setPassword("first", for: StorageUse.key)
    let log = try EventLog(of: storage, .service("service"))
    try service.renewDefault()
    log.wait(for: .changed(.removed(StorageUse.key)))
    try storage.setPassword("second", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    #expect(log.changes == [.removed(StorageUse.key), .created(StorageUse.key)])
  }
}
#endif
