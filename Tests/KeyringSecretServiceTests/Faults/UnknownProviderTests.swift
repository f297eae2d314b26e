// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

@testable import KeyringSecretService

/// Providers that the package doesn't know, each with behaviors of a real one.
@Suite(.withOwnKeyring) struct UnknownProviderTests {
  typealias Mode = FakeService.Mode

  /// Behaviors that a provider has at the same time.
  struct Behavior: CustomTestStringConvertible, Sendable {
    let modes: [Mode]

    init(_ modes: Mode...) { self.modes = modes }
    init(_ modes: [Mode]) { self.modes = modes }

    var testDescription: String {
      modes == Mode.oo7
        ? "oo7"
        : modes == Self.awakeOO7.modes
          ? "awake oo7" : modes.map(\.description).joined(separator: " ")
    }

    static let oo7 = Behavior(Mode.oo7)
    /// The same after the time in which it answers nothing.
    static let awakeOO7 = Behavior(Mode.oo7.filter { $0 != .sleepy(milliseconds: 60) })
    /// The ways in which a provider loses what was saved.
    static let losing = [
      awakeOO7, Behavior(.memory), Behavior(.memory, .sweeping),
      Behavior(.memory, .sweeping, .exact),
      Behavior(.sweeping, .exact, .contentType), Behavior(.renumbering),
    ]
  }

  private let bus: PrivateBus
  private let disk = FakeService.Disk()
  private let key = StorageUse.key
  private let login = ItemKey.credentials(service: "service", label: "label")
  /// The storage, which doesn't wait long for a provider that never answers.
  private let storage: SecretServiceStorage

  init() throws {
    bus = try PrivateBus()
    storage = bus.storage(serviceTimeout: .seconds(5))
  }

  private func service(_ behavior: Behavior) throws -> FakeService {
    let service = try FakeService(on: bus, modes: behavior.modes, disk: disk)
    try service.quiet()
    return service
  }

  // MARK: - The contract

  /// The rules that a provider with a behavior can't keep.
  private static func limitations(_ behavior: Behavior) -> Set<StorageContract> {
    // Nothing says that an unknown provider lists locked items.
    var rules: Set<StorageContract> = [.lockedItemsAreListed]
    if behavior.modes.contains(.capitals) {
      // A collection has another label than the program has asked for.
      rules.insert(.collectionsAreApart)
    }
    return rules
  }

  /// The behaviors that show without a restart, each alone.
  private static let visible: [Mode] = [
    .exact, .gap, .contentType, .types, .sleepyCalls(3), .noAliases, .hiding, .prompting,
    .capitals, .session, .restless, .labelKept,
  ]

  /// The rules share a provider, because starting one takes longer than most of them.
  ///
  /// `SecretServiceContractTests` test the same contract with a sanitizer.
  /// With few kills, the most unusual behaviors are enough.
  @Test(
    .tags(.unsanitized, .kills),
    arguments: [Behavior.oo7]
      + (Kills.count > 100 ? visible : [.gap]).map { Behavior($0) })
  func `each rule of the contract holds`(behavior: Behavior) throws {
    nonisolated(unsafe) let service = try service(behavior)
    for rule in StorageContract.allCases {
      if Self.limitations(behavior).contains(rule) { continue }
      do {
        let isLocking = rule.requirement == .locking
        let storage = bus.storage(isLocking ? .never : .allowed, serviceTimeout: .seconds(10))
        try rule.verify(
          storage, unlock: { _ in try service.unlock() },
          restart: { _ in
            try service.restart()
            return storage
          })
      } catch {
        Issue.record(error, "\(rule)")
      }
      try service.unlock()
    }
  }

  /// An item that is replaced by a new one was stored for the first time when the old one was.
  @Test func `a change keeps the time at which an item was first stored`() throws {
    let service = try service(.awakeOO7)
    try storage.setPassword("first", for: key)
    try service.age(seconds: 10)
    let old = try #require(try storage.item(for: key, details: .metadata))
    for change in [
      SecureItem(key: key, secret: Secret("second")), SecureItem(key: key, label: "Another"),
      SecureItem(key: key, attributes: ["environment": "test"]),
    ] {
      try storage.save(change, mode: .update)
      let new = try #require(try storage.item(for: key, details: .metadata))
      #expect(new.created == old.created)
      #expect(new.modified != old.modified)
    }
  }

  /// It may have been stopped, or its user may be answering a prompt.
  @Test func `a program that keeps its turn does not keep others from adding`() throws {
    let service = try service(.awakeOO7)
    let other = try takeTurn()
    // An addition waits for half of its time.
    let storage = bus.storage(serviceTimeout: .seconds(1))
    try storage.setPassword("s3cret", for: key, mode: .add)
    #expect(try storage.password(for: key) == "s3cret")
    _ = (service, other)
  }

  /// Takes the turn to change the item, as another program does, and returns the connection that keeps it.
  private func takeTurn() throws -> BusConnection {
    let other = try bus.connect()
    let take = MethodCall.take(MethodCall.nameOfTurn(under: key, in: "org.swift_keyring"))
    try CallLoop.runToEnd { () async throws(DBusError) in
      _ = try await other.send([take], to: nil, until: Deadline(after: .seconds(25)))[0].get()
    }
    return other
  }

  // MARK: - After a restart

  @Test(
    .tags(.slow), arguments: Behavior.losing,
    StorageContract.allCases.filter { $0.requirement == .restart })
  func `a restart keeps the contract`(behavior: Behavior, rule: StorageContract) throws {
    nonisolated(unsafe) let service = try service(behavior)
    try rule.verify(
      storage,
      restart: { [storage] _ in
        try service.restart()
        return storage
      })
  }

  @Test(.tags(.slow), arguments: Behavior.losing)
  func `a changed password is there after a restart`(behavior: Behavior) throws {
    let service = try service(behavior)
    for round in 0..<2 {
      for text in ["first", "second", "third"] {
        try storage.setPassword("\(text) \(round)", for: key)
        #expect(try storage.password(for: key) == "\(text) \(round)")
      }
      try service.restart()
      #expect(try storage.password(for: key) == "third \(round)")
      #expect(try storage.items(matching: .service("service")).count == 1)
    }
  }

  @Test(.tags(.slow), arguments: Behavior.losing)
  func `a password that was changed with an expiry does not vanish`(behavior: Behavior) throws {
    let service = try service(behavior)
    let time = Date(timeIntervalSince1970: 2_000_000_000)
    try storage.setPassword("first", for: key)
    var item = SecureItem(key: key, secret: Secret("second"))
    item.expires = time
    try storage.save(item, mode: .addOrReplace)
    // What was replaced may be removed by now.
    try service.age(seconds: 1000)
    try storage.setPassword("third", for: key)
    try service.restart()
    var found = try storage.item(for: key, details: .all)
    #expect(found?.secret == Secret("third") && found?.expires == time)
    try service.age(seconds: 1000)
    try storage.setPassword("fourth", for: key)
    try service.restart()
    found = try storage.item(for: key, details: .all)
    #expect(found?.secret == Secret("fourth") && found?.expires == time)
  }

  @Test(arguments: Behavior.losing)
  func `a removed item does not come back`(behavior: Behavior) throws {
    let service = try service(behavior)
    for text in ["first", "second"] { try storage.setPassword(text, for: key) }
    try storage.save(
      SecureItem(key: key, secret: Secret("third"), attributes: ["a": "b"]), mode: .update)
    for text in ["first", "second"] {
      try storage[login, as: .credential].write(Credential(login: text, password: text))
      try storage[login, as: .credential].write(Credential(login: text, password: "\(text) again"))
    }
    // What is in memory may have other attributes than what is on the disk.
    let others = ["b", "c"].map { ItemKey.password(service: "service", account: $0) }
    for other in others { try storage.setPassword("first", for: other) }
    try storage.save(SecureItem(key: others[0], attributes: ["a": "c"]), mode: .update)
    try storage[others[1], as: .secret].write(Secret(bytes: [0xFF]))
    for key in [key, login] + others { #expect(try storage.remove(key)) }
    #expect(try storage.password(for: key) == nil)
    try service.restart()
    #expect(try storage.password(for: key) == nil)
    #expect(try storage[login, as: .credential].read() == nil)
    #expect(try storage.items(matching: .service("service")).isEmpty)
    #expect(try disk.items().isEmpty)
  }

  @Test(.tags(.slow), arguments: Behavior.losing)
  func `an item of another program keeps exactly its attributes`(behavior: Behavior) throws {
    let service = try service(behavior)
    let others = [
      ["service": "theirs", "username": "account"],
      ["service": "theirs", "username": "account 2", "application": "rust-keyring"],
    ]
    for attributes in others {
      try openSession(at: bus.address).createItem(attributes, secret: "theirs", replacing: true)
    }
    let before = try disk.items()
    let key = ItemKey.password(service: "theirs", account: "account")
    let second = ItemKey.password(service: "theirs", account: "account 2")
    try storage.setPassword("ours", for: key)
    try storage.setPassword("ours, too", for: second)
    try storage.setPassword("ours again", for: key)
    try service.restart()
    #expect(try storage.password(for: key) == "ours again")
    #expect(try storage.password(for: second) == "ours, too")
    let after = try disk.items()
    func attributes(_ items: [FakeService.Disk.Item]) -> Set<[String: String]> {
      Set(items.map(\.attributes))
    }
    #expect(after.count == before.count && attributes(after) == attributes(before))
    #expect(after.allSatisfy { $0.label == "Theirs" })
    #expect(try storage.remove(key))
    try service.restart()
    #expect(try disk.items().map(\.text) == ["ours, too"])
  }

  /// Another program's item with all attributes of this one and more is not this one.
  @Test(.tags(.slow), arguments: Behavior.losing)
  func `a removal leaves items of other programs that have more attributes`(
    behavior: Behavior
  ) throws {
    let service = try service(behavior)
    let session = try openSession(at: bus.address)
    let theirs = ["service": "theirs", "username": "account"]
    try session.createItem(theirs, secret: "theirs")
    try session.createItem(
      ["service": "theirs", "server": "host", "username": "account"], secret: "a server's")
    let key = ItemKey.internetPassword(server: InternetServer("host"), account: "account")
    let before = try disk.items(["server": "host"])
    #expect(before.count == 1)
    _ = try? storage.setPassword("ours", for: .password(service: "theirs", account: "account"))
    _ = try? storage.remove(.password(service: "theirs", account: "account"))
    _ = try? storage.remove(key)
    try service.restart()
    #expect(try disk.items(["server": "host"]).map(\.attributes) == before.map(\.attributes))
  }

  @Test(.tags(.slow), arguments: Behavior.losing)
  func `an item that takes the place of another program's stays valid`(behavior: Behavior) throws {
    let service = try service(behavior)
    let key = ItemKey.password(service: "theirs", account: "account")
    func query(_ name: String) -> ItemQuery {
      ItemQuery(attributes: ["service": "theirs", "comment": name], details: .secret)
    }
    func storeTheirs() throws {
      try openSession(at: bus.address).createItem(
        key.attributes.merging(["comment": "old"]) { $1 }, secret: "old", replacing: true)
    }
    #expect(try storage.password(for: key) == nil)
    try storeTheirs()
    for secret in ["first", "second"] {
      try storage.save(
        SecureItem(key: key, secret: Secret(secret), attributes: ["comment": "new"]), mode: .update)
      try service.restart()
      #expect(try storage.password(for: key) == secret)
      #expect(try storage.items(matching: query("new")).map(\.secret?.text) == [secret])
      #expect(try storage.items(matching: query("old")).isEmpty)
    }
    #expect(try storage.removeItems(matching: query("new")) == 1)
    try service.restart()
    #expect(try storage.password(for: key) == nil)
    #expect(try disk.items(key.attributes).isEmpty)
  }

  // MARK: - The first call

  @Test(
    .tags(.slow),
    arguments: [
      Behavior.oo7, Behavior(.sleepy(milliseconds: 400)), Behavior(.sleepy(milliseconds: 700)),
      Behavior(.sleepyCalls(1)), Behavior(.sleepyCalls(4)),
    ], [StorageUse.read, .find, .save, .remove])
  func `the first call waits until a provider is ready`(
    behavior: Behavior, use: StorageUse
  ) throws {
    let service = try service(behavior)
    // It's long enough for the slowest provider on a busy machine, and a call that only waits for its end is noticed.
    let storage = bus.storage(serviceTimeout: .seconds(120))
    try storage.setPassword("s3cret", for: key)
    try service.restart()
    let start = ContinuousClock.now
    try use(storage)
    #expect(ContinuousClock.now - start < .seconds(100))
    // The call has found what is there.
    let isThere = use != .remove
    #expect(try storage.password(for: key) == (isThere ? "s3cret" : nil))
    #expect(try disk.items(["username": "account"]).isEmpty == !isThere)
  }

  @Test(
    .tags(.slow),
    arguments: [Behavior.oo7, Behavior(.sleepy(milliseconds: 3000)), Behavior(.sleepyCalls(4))])
  func `a call that starts a provider waits until it is ready`(behavior: Behavior) throws {
    try bus.kill()
    let bus = try PrivateBus(
      activation: FakeService.activation(modes: behavior.modes, disk: disk))
    let storage = bus.storage(serviceTimeout: .seconds(120))
    let start = ContinuousClock.now
    try storage.setPassword("s3cret", for: key)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(ContinuousClock.now - start < .seconds(100))
  }

  @Test(.tags(.slow)) func `a provider is recognized by a name that it takes when it answers`()
    throws
  {
    let name = try #require(KeyringSecretService.Provider.names.first)
    let bus = try PrivateBus(activation: FakeService.activation(takingLater: name))
    #expect(try openSession(at: bus.address).provider.isKnown)
    let slow = try FakeService(on: self.bus, takingLater: name)
    for method in ["ReadAlias", "Get"] { try slow.fault(method, .late(3)) }
    #expect(try openSession(at: self.bus.address).provider.isKnown)
  }

  // MARK: - Aliases and collections

  @Test(.tags(.slow), arguments: StorageUse.allCases)
  func `an alias needs no object`(use: StorageUse) throws {
    let service = try service(Behavior(.noAliases))
    defer { _ = service }
    if use != .propertyRead { try storage.setPassword("s3cret", for: key) }
    try use(storage)
  }

  @Test(arguments: [Behavior.awakeOO7, Behavior(.session), Behavior(.session, .noAliases)])
  func `a session collection needs no object for its alias`(behavior: Behavior) throws {
    let service = try service(behavior)
    let session = bus.storage(in: .session, serviceTimeout: .seconds(5))
    try session.setPassword("s3cret", for: key)
    try session.setPassword("another", for: key)
    #expect(try session.password(for: key) == "another")
    #expect(try storage.password(for: key) == nil)
    #expect(try disk.items().isEmpty)
    try service.restart()
    #expect(try session.password(for: key) == nil)
  }

  // MARK: - Prompts

  /// A wrong password ends the prompt without a signal.
  @Test(.tags(.slow), arguments: [StorageUse.read, .save])
  func `a prompt that never completes is not waited for`(use: StorageUse) throws {
    let service = try service(Behavior(.prompting, .promptSilent(1)))
    let storage = bus.storage(serviceTimeout: .seconds(5))
    try storage.setPassword("s3cret", for: key)
    try service.lock()
    let start = ContinuousClock.now
    do throws(SecureStorageError) {
      do { try use(storage) } catch let error as SecureStorageError { throw error } catch {
        Issue.record(error)
      }
    } catch {
      #expect([.locked, .userCanceled].contains(error.code), "\(error)")
    }
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test(.tags(.slow)) func `a prompt that takes long to appear is waited for`() throws {
    let service = try service(Behavior(.prompting, .promptSlow))
    try storage.setPassword("s3cret", for: key)
    try service.lock()
    #expect(try storage.password(for: key) == "s3cret")
  }

  // MARK: - Gaps

  @Test(arguments: [Behavior.awakeOO7, Behavior(.gap), Behavior(.gap, .exact)])
  func `a read finds an item that another program replaces`(behavior: Behavior) async throws {
    let service = try FakeService(on: bus, modes: behavior.modes, disk: disk)
    let theirs = ["service": "theirs", "username": "account"]
    let key = ItemKey.password(service: "theirs", account: "account")
    let session = try openSession(at: bus.address)
    try session.createItem(theirs, secret: "old", replacing: true)
    let reads: [@Sendable (SecretServiceStorage) throws -> Bool] = [
      { try $0.password(for: key) != nil }, { try $0.exists(key) },
      { try !$0.items(for: [key], details: .all).isEmpty },
      { try !$0.items(matching: .key(key)).isEmpty },
    ]
    for (number, read) in reads.enumerated() {
      // It was there a moment ago.
      #expect(try await storage.password(for: key) != nil)
      try service.waitInGap()
      let replacement = Task.detached {
        try session.createItem(theirs, secret: "new", replacing: true)
      }
      try await service.waitForCall(of: "CreateItem")
      #expect(try read(storage), "read \(number)")
      _ = try await replacement.value
    }
  }

  @Test(.tags(.slow), arguments: [Behavior.awakeOO7, Behavior(.gap), Behavior(.gap, .exact)])
  func `a reader finds an item at every moment of a change`(behavior: Behavior) throws {
    let service = try service(behavior)
    defer { _ = service }
    let theirs = ItemKey.password(service: "theirs", account: "account")
    try openSession(at: bus.address).createItem(
      theirs.attributes, secret: "theirs", replacing: true)
    try storage.setPassword("s3cret", for: key)
    try storage[login, as: .credential].write(Credential(login: "a", password: "a"))
    // Only an item that was read before is waited for while it's replaced. The first read of the reader may come then.
    #expect(try storage.password(for: theirs) != nil)
    let isOver = Atomic(false)
    let group = DispatchGroup()
    let (storage, key, login) = (storage, key, login)
    DispatchQueue(label: "reader").async(group: group) {
      while !isOver.load(ordering: .relaxed) {
        #expect(throws: Never.self) {
          let found = try (
            storage.password(for: key), storage[login, as: .credential].read(),
            storage.password(for: theirs)
          )
          #expect(found.0 != nil)
          // On a busy machine, the other program's replacement may take longer than a read waits for it.
          #expect(
            found.2 != nil || waitUntil { (try? storage.password(for: theirs)) != nil })
          #expect(found.1 != nil && found.1?.login == found.1?.password)
        }
      }
    }
    let changes = Result {
      for number in 0..<8 {
        let text = "\(number)"
        try storage.setPassword(text, for: key)
        try storage.save(SecureItem(key: key, label: text), mode: .update)
        try storage.save(SecureItem(key: key, attributes: ["a": text]), mode: .update)
        try storage[login, as: .credential].write(Credential(login: text, password: text))
        try storage.setPassword(text, for: theirs)
      }
    }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    try changes.get()
  }

  // MARK: - Signals

  @Test(arguments: [Behavior.awakeOO7, Behavior(.restless)])
  func `locking and unlocking is no change`(behavior: Behavior) throws {
    let service = try service(behavior)
    try storage.setPassword("s3cret", for: key)
    let log = try EventLog(of: storage, .service("service"))
    try service.lock()
    try service.unlock()
    let other = ItemKey.password(service: "service", account: "other")
    try storage.setPassword("s3cret", for: other)
    log.wait(for: .changed(.created(other)))
    #expect(log.changes == [.created(other)])
  }
}
#endif
