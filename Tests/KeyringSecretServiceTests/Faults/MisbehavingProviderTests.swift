#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

@testable import KeyringSecretService

/// A provider that fails at one method after the other, and works again afterwards.
@Suite(.inPrivateSession) struct MisbehavingProviderTests {
  /// A method of the Secret Service, and what an app does to call it.
  enum Method: String, CaseIterable, CustomTestStringConvertible {
    case openSession = "OpenSession"
    case readAlias = "ReadAlias"
    case searchItems = "SearchItems"
    case getSecrets = "GetSecrets"
    case getAll = "GetAll"
    case get = "Get"
    case setSecret = "SetSecret"
    case createItem = "CreateItem"
    case delete = "Delete"
    case lock = "Lock"
    case unlock = "Unlock"

    var uses: [StorageUse] {
      switch self {
      case .openSession: StorageUse.allCases
      case .readAlias: [.lock, .unlock]
      case .searchItems: [.read, .find, .save, .add, .remove, .propertyRead, .propertyWrite]
      case .getSecrets: [.read, .propertyRead]
      case .getAll: [.find, .save, .remove, .propertyWrite]
      case .get: [.unlock]
      case .setSecret: [.save, .propertyWrite]
      case .createItem: [.add]
      case .delete: [.remove]
      case .lock: [.lock]
      case .unlock: [.unlock]
      }
    }

    var testDescription: String { rawValue }
  }

  private let bus: PrivateBus
  private let service: FakeService

  init() throws {
    bus = try PrivateBus()
    service = try FakeService(on: bus)
  }

  /// Where the default collection may move, no alias is read.
  private func passForGnomeKeyring(for method: Method) throws {
    if method == .readAlias { try service.takeName("org.gnome.keyring") }
  }

  /// Whether everything works as if nothing had been.
  private func expectHealth(password: String = "s3cret") throws {
    try service.reset()
    let storage = bus.storage()
    try storage.unlock()
    #expect(try storage.password(for: StorageUse.key) == password)
    #expect(try storage.items(matching: .service("service")).count == 1)
  }

  /// Lets every use meet the fault of one method.
  private func expectFailures(
    _ method: Method, _ fault: FakeService.Fault, _ code: SecureStorageError.Code,
    cause: String = "", timeout: Duration = .seconds(25)
  ) throws {
    try service.reset()
    if method == .openSession {
      // The next call opens another.
      try service.restart()
    } else {
      try bus.storage().setPassword("s3cret", for: StorageUse.key)
    }
    if method == .unlock { try service.lock() }
    try service.fault(method.rawValue, fault)
    for use in method.uses {
      use.expectFailure(code, bus.storage(serviceTimeout: timeout), cause: cause)
    }
    try service.reset()
    if method == .openSession { try bus.storage().setPassword("s3cret", for: StorageUse.key) }
    try expectHealth()
  }

  @Test func plainSessionsWillDo() throws {
    let storage = bus.storage()
    for secret in ["s3cret", "", "\u{0}\n", String(repeating: "x", count: 100_000)] {
      try storage.setPassword(secret, for: StorageUse.key)
      #expect(try storage.password(for: StorageUse.key) == secret)
    }
    let key = ItemKey.credentials(service: "service", label: "label")
    for login in ["ada", "grace"] {
      try storage.setCredential(Credential(login: login, password: "s3cret"), for: key)
      #expect(try storage.credential(for: key)?.login == login)
    }
    #expect(try storage.items(matching: .service("service")).count == 2)
    #expect(try storage.removeItems(matching: .service("service")) == 2)
    try storage.lock()
    #expect(try storage.isLocked())
    try storage.unlock()
    #expect(try !storage.isLocked())
  }

  @Test(arguments: Method.allCases) func noAnswer(method: Method) throws {
    try passForGnomeKeyring(for: method)
    try expectFailures(method, .mute, .timedOut, timeout: .milliseconds(200))
  }

  @Test(arguments: Method.allCases) func answerOfAnotherType(method: Method) throws {
    try passForGnomeKeyring(for: method)
    try expectFailures(
      method, .type, .other, cause: method == .openSession ? "" : "\(method.rawValue)")
  }

  @Test(arguments: Method.allCases) func error(method: Method) throws {
    try passForGnomeKeyring(for: method)
    let codes: KeyValuePairs<String, SecureStorageError.Code> = [
      "org.freedesktop.Secret.Error.IsLocked": .locked,
      "org.freedesktop.Secret.Error.NoSession": .connectionLost,
      "org.freedesktop.Secret.Error.NoSuchObject": .other,
      "org.freedesktop.Secret.Error.AlreadyExists": .other,
      "org.freedesktop.DBus.Error.AccessDenied": .accessDenied,
      "org.freedesktop.DBus.Error.NoReply": .connectionLost,
      "org.freedesktop.DBus.Error.Timeout": .timedOut,
      "org.freedesktop.DBus.Error.LimitsExceeded": .other,
      "org.example.Error.Odd": .other,
    ]
    for (name, code) in codes {
      // Of an item or a collection this says only that it is gone.
      let isAboutAnObject = ![.openSession, .readAlias, .getSecrets, .lock, .unlock]
        .contains(method)
      if name.hasSuffix("NoSuchObject"), isAboutAnObject { continue }
      // libsecret, which opens the session, does not hand on the names of all errors.
      let isLost = method == .openSession && name.hasSuffix("NoSession")
      // A collection that refuses to be searched because it is locked is looked at again.
      let isLocked = method == .searchItems && code == .locked
      try expectFailures(
        method, .error(name), isLost ? .other : code,
        cause: isLocked ? "is locked" : "as the test wants it")
    }
  }

  @Test func itemsThatAreGoneWhenTheyAreLookedAtAreNoError() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    let gone = FakeService.Fault.error("org.freedesktop.Secret.Error.NoSuchObject")
    try service.fault("GetAll", gone)
    #expect(try storage.items(matching: .service("service")).isEmpty)
    try service.reset()
    try service.fault("Delete", gone)
    try storage.remove(StorageUse.key)
    try service.reset()
    // One that is always there to be found, and never to be changed, must not keep a call for ever.
    try service.fault("SetSecret", gone)
    StorageUse.save.expectFailure(.connectionLost, storage)
    try service.reset()
    try service.fault("CreateItem", gone)
    StorageUse.add.expectFailure(.locked, storage, cause: "may have closed it")
    try service.reset()
    try service.fault("Get", gone)
    StorageUse.unlock.expectFailure(.locked, storage, cause: "may have closed it")
    try expectHealth()
  }

  @Test func itemsThatVanishWhenTheyAreLookedAtAreGone() throws {
    let key = ItemKey.credentials(service: "service", label: "login")
    let storage = bus.storage()
    func saveTwice() throws {
      // The item with the former login stays beside the one with the new login.
      for login in ["jane", "john"] {
        try storage.setCredential(Credential(login: login, password: "s3cret"), for: key)
      }
      #expect(try bus.search(["label": "login"]).count == 2)
    }
    try saveTwice()
    try service.wither()
    #expect(try bus.storage().item(for: key, details: .metadata) == nil)
    try service.reset()
    try saveTwice()
    try service.wither()
    #expect(try !storage.remove(key))
    try service.reset()
    try saveTwice()
    // Where it was is known by now.
    #expect(try storage.credential(for: key)?.login == "john")
    try service.wither()
    #expect(try storage.item(for: key, details: .all) == nil)
  }

  /// The specification has an error for that, which pass_secret_service gives.
  @Test func itemsThatAreGoneWhenTheirSecretsAreReadAreAbsent() throws {
    try service.refuseGoneItems()
    let storage = bus.storage()
    let other = ItemKey.password(service: "service", account: "other")
    for key in [StorageUse.key, other] { try storage.setPassword("s3cret", for: key) }
    // Where it was is known by now.
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    let found = try bus.search(StorageUse.key.ownAttributes)
    let session = try openSession(at: bus.address)
    _ = try session.send([.delete(found[0])], until: Self.deadline)[0].get()
    #expect(try storage.items(for: [StorageUse.key, other], details: .all).map(\.key) == [other])
    #expect(try storage.password(for: StorageUse.key) == nil)
  }

  @Test func updateOfWhatIsRemovedAtOnceAfterwardsIsNoFailure() throws {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    let gone = FakeService.Fault.error("org.freedesktop.Secret.Error.NoSuchObject")
    try storage.setPassword("s3cret", for: StorageUse.key)
    // Once the secret was written, what is missing was removed later.
    try service.fault("Get", gone)
    try service.fault("Set", gone)
    let item = SecureItem(key: StorageUse.key, secret: Secret("another"), label: "Another label")
    try storage.save(item, mode: .update)
    #expect(try storage.password(for: StorageUse.key) == "another")

    let theirs = ItemKey.password(service: "theirs", account: "account")
    let attributes = ["service", "theirs", "username", "account"]
    let stored = try Program(
      "secret-tool", ["store", "--label", "Theirs"] + attributes, environment: bus.environment
    ).finish(input: Data("theirs".utf8))
    try #require(stored.status == 0)
    try storage.save(
      SecureItem(key: theirs, secret: Secret("ours"), label: "Another label"), mode: .update)
    #expect(try storage.password(for: theirs) == "ours")
    try service.reset()
    try expectHealth(password: "another")
  }

  @Test func itemsThatHaveTakenEachOthersPlaceAreToldApart() throws {
    let storage = bus.storage()
    let keys = (0..<3).map { ItemKey.password(service: "service", account: "\($0)") }
    for (number, key) in keys.enumerated() { try storage.setPassword("\(number)", for: key) }
    for _ in 0..<3 {
      for (number, key) in keys.enumerated() {
        #expect(try storage.password(for: key) == "\(number)")
      }
      let found = try storage.items(for: keys, details: .all)
      #expect(keys.map { found[$0]?.secret?.text } == ["0", "1", "2"])
      try service.swap()
    }
    // It was written there, and is elsewhere since.
    try storage.setPassword("changed", for: keys[0])
    try service.swap()
    try storage.setPassword("changed again", for: keys[0])
    let found = try storage.items(for: keys, details: .all)
    #expect(keys.map { found[$0]?.secret?.text } == ["changed again", "1", "2"])
    #expect(try storage.items(matching: .service("service")).count == 3)
  }

  /// It owes an answer when another takes its place.
  @Test func observersGoOnWithTheNextProvider() async throws {
    let log = EventLog()
    let observation = try bus.storage().observe(.key(StorageUse.key), log.append)
    try service.fault("GetAll", .mute)
    // It is given the name when the first gives it up.
    let next = try FakeService(on: bus)
    try await bus.storage().setPassword("s3cret", for: StorageUse.key)
    try await service.waitForCall(of: "GetAll")
    try service.end()
    log.wait(for: .interrupted)
    log.wait(for: .resumed)
    try await bus.storage().setPassword("s3cret", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    _ = observation
    try next.end()
  }

  @Test func atTheOpeningOnlyTheSessionsProviderIsBelieved() throws {
    let owner = try #require(
      try openSession(at: bus.address).owner(of: MethodCall.secrets, until: Self.deadline))
    try CallLoop.runToEnd { () async throws in
      let connection = try await BusConnection.open(address: bus.address, until: Self.deadline)
      let question = MethodCall.readAlias("default")
      let starts = [question, question, .readAlias("")].map {
        connection.starting($0, to: MethodCall.secrets)
      }
      let results = try await CallLoop.results(of: starts, until: Self.deadline)
      #expect(connection.answer(results[0], to: question, from: owner) != nil)
      #expect(connection.answer(results[1], to: question, from: owner + "0") == nil)
      #expect(connection.answer(results[2], to: .collections(), from: owner) == nil)
    }
  }

  private static var deadline: Deadline { Deadline(after: .seconds(25)) }

  @Test func lateAnswersAreWaitedForAndDisturbNobodyWhenTheyAreNot() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.fault("GetSecrets", .late(0.2))
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    for _ in 0..<20 {
      StorageUse.read.expectFailure(.timedOut, bus.storage(serviceTimeout: .milliseconds(20)))
    }
    try expectHealth()
    try service.fault("SetSecret", .late(0.2))
    try storage.setPassword("another", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "another")
  }

  /// The time is up for a keyring that is silent, and not for one that has much to say.
  @Test func manyItemsMayTakeLongerThanTheTimeout() throws {
    try service.quiet()
    let keys = (0..<200).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try bus.storage().setPassword("s3cret", for: key) }
    try service.fault("GetAll", .late(0.6))
    let storage = bus.storage(serviceTimeout: .seconds(2))
    let clock = ContinuousClock()
    let start = clock.now
    #expect(try storage.items(matching: .service("service")).count == keys.count)
    // Otherwise it has shown nothing.
    #expect(clock.now - start > .seconds(2))
    try service.fault("GetAll", .mute)
    #expect(throws: SecureStorageError.self) { try storage.items(matching: .service("service")) }
    // What changes all the time must not keep a call for ever.
    try service.reset()
    try service.churn()
    let error = #expect(throws: SecureStorageError.self) {
      try storage.items(matching: .service("service"))
    }
    #expect(error?.code == .timedOut)
  }

  @Test func writesWhoseAnswerIsLostAreFoundOut() throws {
    let storage = bus.storage()
    func count() throws -> Int { try storage.items(matching: .service("service")).count }
    try service.fault("CreateItem", .lost)
    try storage.setPassword("first", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "first")
    try service.fault("SetSecret", .lost)
    try storage.setPassword("second", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "second" && count() == 1)
    // An addition that found its own item would take it for another's.
    try service.fault("CreateItem", .lost)
    StorageUse.add.expectFailure(.connectionLost, storage, recoverySuggestion: "reads show")
    #expect(try count() == 2)
    try service.fault("Delete", .lost)
    #expect(try storage.remove(StorageUse.key))
    try service.fault("Delete", .lost)
    #expect(try storage.removeItems(matching: .service("service")) == 1)
    #expect(try count() == 0)
  }

  @Test func unusableSessionsAreReplaced() throws {
    let storage = bus.storage()
    func makeUnusable(_ count: Int) throws {
      SessionCache.shared.forget(try openSession(at: bus.address), at: bus.address)
      try service.makeSessionsUnusable(count: count)
    }
    for count in 1...4 {
      let key = ItemKey.password(service: "service", account: "\(count)")
      try makeUnusable(count)
      try storage.setPassword("first", for: key, mode: .add)
      try makeUnusable(count)
      #expect(try storage.password(for: key) == "first")
      try makeUnusable(count)
      try storage.setPassword("second", for: key)
      try makeUnusable(count)
      #expect(try storage.items(for: [key], details: .all)[key]?.secret?.text == "second")
    }
    #expect(try storage.items(matching: .service("service")).count == 4)
    // One session after the other can't be used: that ends, too, and nothing has changed.
    try makeUnusable(100)
    let first = ItemKey.password(service: "service", account: "1")
    let error = #expect(throws: SecureStorageError.self) { try storage.password(for: first) }
    #expect(error?.code == .connectionLost)
    #expect(throws: SecureStorageError.self) { try storage.setPassword("third", for: first) }
    StorageUse.add.expectFailure(.connectionLost, storage)
    try makeUnusable(0)
    #expect(try storage.password(for: first) == "second")
    #expect(try storage.items(matching: .service("service")).count == 4)
  }

  @Test func removalWhoseAnswerIsLostTakesNothingElse() throws {
    let storage = bus.storage()
    let service = storage.service("service")
    for account in ["first", "second", "third"] {
      try service.setPassword("s3cret", for: account)
    }
    // What is the next to be found was not meant.
    try self.service.fault("Delete", .lost)
    #expect(
      try storage.removeItems(matching: ItemQuery(attributes: ["service": "service"], limit: 1))
        == 1)
    #expect(try service.accounts().count == 2)
    // Neither was another program's item, which a key fits where there is none of ours any more.
    let key = ItemKey.password(service: "theirs", account: "account")
    try storage.setPassword("ours", for: key)
    let theirs = ["service": "theirs", "username": "account", "theirs": "yes"]
    let stored = try Program(
      "secret-tool", ["store", "--label", "Theirs"] + theirs.flatMap { [$0.key, $0.value] },
      environment: bus.environment
    ).finish(input: Data("theirs".utf8))
    try #require(stored.status == 0)
    try self.service.fault("Delete", .lost)
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == "theirs")
  }

  @Test func staleAliasIsNoCollection() throws {
    // Of a provider that lists all its collections: another one may only have closed it.
    try service.takeName("org.gnome.keyring")
    for alias in [FakeService.Alias.none, .stale] {
      try service.alias(alias)
      for use in [StorageUse.save, .add] {
        use.expectFailure(
          .noDefaultCollection, bus.storage(.never), recoverySuggestion: "Create one")
      }
      try StorageUse.save(bus.storage())
      try expectHealth()
    }
  }

  @Test func collectionThatMayBeClosedIsNotMadeAnew() throws {
    for alias in [FakeService.Alias.none, .stale] {
      try service.alias(alias)
      try service.fault("CreateItem", .error("org.freedesktop.Secret.Error.NoSuchObject"))
      try service.fault("CreateCollection", .leave)
      for use in [StorageUse.save, .add] {
        use.expectFailure(.locked, bus.storage(), cause: "closed")
      }
    }
  }

  @Test func whoWaitsForTheUserWithAnotherThreadIsInTime() throws {
    try service.takeName("org.gnome.keyring")
    try service.alias(.none)
    try service.fault("CreateCollection", .prompt(.accept))
    // As long as a person takes, which is longer than the keyring may.
    try service.fault("Prompt", .late(1))
    let storage = bus.storage(serviceTimeout: .milliseconds(500))
    let group = DispatchGroup()
    for number in 0..<4 {
      DispatchQueue(label: "\(number)").async(group: group) {
        #expect(throws: Never.self) {
          try storage.setPassword(
            "s3cret", for: .password(service: "service", account: "\(number)"))
        }
      }
    }
    group.wait()
    #expect(try storage.items(matching: .service("service")).count == 4)
  }

  @Test(arguments: Method.allCases) func leavesTheBus(method: Method) throws {
    try passForGnomeKeyring(for: method)
    for use in method.uses {
      if method != .openSession { try bus.storage().setPassword("s3cret", for: StorageUse.key) }
      if method == .unlock { try service.lock() }
      try service.fault(method.rawValue, .leave)
      use.expectFailure(.connectionLost, bus.storage(), recoverySuggestion: "try again")
      use.expectFailure(.noProvider, bus.storage())
      try service.restart()
      try bus.storage().setPassword("s3cret", for: StorageUse.key)
      #expect(try bus.storage().password(for: StorageUse.key) == "s3cret")
      if method == .openSession { try service.restart() }
    }
  }
}
#endif
