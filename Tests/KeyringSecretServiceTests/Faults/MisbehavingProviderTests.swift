// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A provider that fails at one method after another, and works again afterwards.
@Suite(.withOwnKeyring) struct MisbehavingProviderTests {
  /// A method of the Secret Service, with the uses of a storage that call it.
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

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  /// Passes for gnome-keyring if the method is `ReadAlias`.
  ///
  /// The storage reads no alias if the provider's default collection may change.
  private func passForGnomeKeyring(for method: Method) throws {
    if [.readAlias, .setSecret].contains(method) { try service.takeName("org.gnome.keyring") }
  }

  /// Expects that the provider works, and that the item is as before.
  private func expectHealth(password: String = "s3cret") throws {
    try service.reset()
    let storage = bus.storage()
    try storage.unlock()
    #expect(try storage.password(for: StorageUse.key) == password)
    #expect(try storage.items(matching: .service("service")).count == 1)
  }

  /// Expects that every use of one method fails because of the method's fault.
  private func expectFailures(
    _ method: Method, _ fault: FakeService.Fault, _ code: SecureStorageError.Code,
    cause: String = "", timeout: Duration = .seconds(25)
  ) throws {
    try service.reset()
    if method == .openSession {
      // The next call opens another session.
      try service.restart()
    } else {
      try bus.storage().setPassword("s3cret", for: StorageUse.key)
    }
    if method == .unlock { try service.lock() }
    try service.fault(method.rawValue, fault)
    method.uses.expectFailures(code, bus.storage(serviceTimeout: timeout), cause: cause)
    try service.reset()
    if method == .openSession { try bus.storage().setPassword("s3cret", for: StorageUse.key) }
    try expectHealth()
  }

  @Test(.tags(.slow), arguments: Method.allCases)
  func `a fault of a method is reported with the matching code`(method: Method) throws {
    try passForGnomeKeyring(for: method)
    try expectFailures(method, .mute, .timedOut, timeout: .milliseconds(200))
    try expectFailures(
      method, .type, .other, cause: method == .openSession ? "" : "\(method.rawValue)")
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
      // For an item or a collection, this error only means that the object is gone.
      let isAboutAnObject = ![.openSession, .readAlias, .getSecrets, .lock, .unlock]
        .contains(method)
      if name.hasSuffix("NoSuchObject"), isAboutAnObject { continue }
      // libsecret opens the session, and doesn't pass on the names of all errors.
      let isLost = method == .openSession && name.hasSuffix("NoSession")
      // If a locked collection refuses a search, the storage looks at it again.
      let isLocked = method == .searchItems && code == .locked
      try expectFailures(
        method, .error(name), isLost ? .other : code,
        cause: isLocked ? "is locked" : "as the test wants it")
    }
  }

  @Test func `an item that is gone before a call reaches it is not an error`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    let gone = FakeService.Fault.error("org.freedesktop.Secret.Error.NoSuchObject")
    try service.fault("GetAll", gone)
    #expect(try storage.items(matching: .service("service")).isEmpty)
    try service.reset()
    try service.fault("Delete", gone)
    try storage.remove(StorageUse.key)
    try service.reset()
    try service.fault("CreateItem", gone)
    StorageUse.add.expectFailure(.locked, storage, cause: "may have closed it")
    try service.reset()
    try service.hide(.collection)
    try service.lock()
    StorageUse.unlock.expectFailure(.locked, storage, cause: "may have closed it")
    try service.unlock()
    try expectHealth()
  }

  @Test func `a save ends if it always finds the item and can never change it`() throws {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.fault("SetSecret", .error("org.freedesktop.Secret.Error.NoSuchObject"))
    StorageUse.save.expectFailure(.connectionLost, storage)
    try expectHealth()
  }

  /// A list of 20,000 items sent 20,000 messages to nobody, which took seconds.
  @Test func `a provider that quits in the middle of a list gets no more messages`() throws {
    let session = try openSession(at: bus.address)
    for number in 0..<400 {
      try session.createItem(
        ["service": "service", "username": "\(number)"], label: "label", secret: "s3cret")
    }
    let monitor = try BusMonitor(on: bus)
    try service.fault("GetAll", .leave)
    StorageUse.find.expectFailure(.connectionLost, bus.storage())
    try service.restart()
    let count = try monitor.finish().count { $0 == "GetAll" }
    #expect((1...2 * BusConnection.maxInFlight).contains(count))
  }

  @Test func `an item that vanishes while it is read counts as absent`() throws {
    let key = ItemKey.credentials(service: "service", label: "login")
    let storage = bus.storage()
    func saveTwice() throws {
      // The item with the former login stays beside the one with the new login.
      for login in ["jane", "john"] {
        try storage[key, as: .credential].write(Credential(login: login, password: "s3cret"))
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
    // By now, the storage knows the path of the item.
    #expect(try storage[key, as: .credential].read()?.login == "john")
    try service.wither()
    #expect(try storage.item(for: key, details: .all) == nil)
  }

  /// The specification has an error for this case, and pass_secret_service answers with it.
  @Test func `an item that is gone when its secret is read is absent`() throws {
    try service.refuseGoneItems()
    let storage = bus.storage()
    let other = ItemKey.password(service: "service", account: "other")
    for key in [StorageUse.key, other] { try storage.setPassword("s3cret", for: key) }
    // By now, the storage knows the path of the item.
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    let found = try bus.search(StorageUse.key.ownAttributes)
    let session = try openSession(at: bus.address)
    try session.ask(.delete(found[0]))
    #expect(try storage.items(for: [StorageUse.key, other], details: .all).map(\.key) == [other])
    #expect(try storage.password(for: StorageUse.key) == nil)
  }

  @Test func `an update succeeds if the item is removed right afterwards`() throws {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    let gone = FakeService.Fault.error("org.freedesktop.Secret.Error.NoSuchObject")
    try storage.setPassword("s3cret", for: StorageUse.key)
    // The secret was written, so an item that is missing was removed later.
    try service.fault("Get", gone)
    try service.fault("Set", gone)
    let item = SecureItem(key: StorageUse.key, secret: Secret("another"), label: "Another label")
    try storage.save(item, mode: .update)
    #expect(try storage.password(for: StorageUse.key) == "another")

    let theirs = ItemKey.password(service: "theirs", account: "account")
    try SecretTool.store("theirs", label: "Theirs", theirs.attributes, on: bus)
    try storage.save(
      SecureItem(key: theirs, secret: Secret("ours"), label: "Another label"), mode: .update)
    #expect(try storage.password(for: theirs) == "ours")
    try service.reset()
    try expectHealth(password: "another")
  }

  @Test func `items that have swapped their paths are told apart`() throws {
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
    // The item was written at its path, and has another path since.
    try storage.setPassword("changed", for: keys[0])
    try service.swap()
    try storage.setPassword("changed again", for: keys[0])
    let found = try storage.items(for: keys, details: .all)
    #expect(keys.map { found[$0]?.secret?.text } == ["changed again", "1", "2"])
    #expect(try storage.items(matching: .service("service")).count == 3)
  }

  /// It's the error of KWallet 5.103.
  @Test func `the missing plugin of KWallet is named`() throws {
    try service.fault(
      "OpenSession",
      .error(
        "org.freedesktop.DBus.Error.InvalidArgs",
        "createDLGroup failed: maybe libqca-ossl is missing"))
    StorageUse.allCases.expectFailures(
      .providerFailed, bus.storage(), cause: "libqca-ossl",
      recoverySuggestion: "Install libqca-qt6-plugins")
    let failure = bus.storage().diagnose().failure
    #expect(failure?.message == "KWallet has no plugin for encryption.")
  }

  /// The search that is sent while the session is opened finds the item at its earlier path.
  @Test func `items that swap their paths while the session is opened are told apart`() async throws
  {
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    for account in ["first", "last"] {
      try await storage.setPassword(account, for: .password(service: "service", account: account))
    }
    SessionCache.shared.forget(try openSession(at: bus.address), at: bus.address)
    try service.fault("OpenSession", .late(0.5))
    _ = try service.takeCalls()
    async let password = storage.password(for: .password(service: "service", account: "first"))
    try await service.waitForCall(of: "OpenSession")
    try service.swap()
    #expect(try await password == "first")
  }

  /// The bus refuses messages of a connection that waits for too many answers.
  @Test(.tags(.slow)) func `observers go on after many answers that never came`() throws {
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    for number in 0..<40 {
      try bus.storage().setPassword("s3cret", for: .password(service: "many", account: "\(number)"))
    }
    // The observers have one connection while there are any. This one asks for no item.
    let first = try bus.storage().observe(.service("none")) { _ in }
    defer { first.cancel() }
    try service.fault("GetAll", .mute)
    let impatient = bus.storage(serviceTimeout: .milliseconds(500))
    for _ in 0..<4 {
      #expect(throws: SecureStorageError.self) { try impatient.observe(.service("many")) { _ in } }
    }
    try service.reset()
    let log = try EventLog(of: bus.storage(), .key(StorageUse.key))
    try bus.storage().remove(StorageUse.key)
    log.wait(for: .changed(.removed(StorageUse.key)))
  }

  /// The first provider still owes an answer when the next one takes its place.
  @Test func `an observer goes on with the next provider`() async throws {
    let log = try await EventLog(of: bus.storage(), .key(StorageUse.key))
    try service.fault("GetAll", .mute)
    // The bus gives it the name when the first provider gives the name up.
    let next = try FakeService(on: bus)
    try await bus.storage().setPassword("s3cret", for: StorageUse.key)
    try await service.waitForCall(of: "GetAll")
    try service.end()
    log.wait(for: .interrupted)
    log.wait(for: .resumed)
    try await bus.storage().setPassword("s3cret", for: StorageUse.key)
    log.wait(for: .changed(.created(StorageUse.key)))
    try next.end()
  }

  /// After a missing provider, an automatic storage would choose the next one.
  @Test(arguments: [StorageUse.read, .save, .remove])
  func `a provider that ends once it has opened a session is lost and not missing`(
    use: StorageUse
  ) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0, modes: [.encrypted]) }
    try service.takeName("org.gnome.keyring")
    try service.fault("OpenSession", .last)
    use.expectFailure(.connectionLost, bus.storage())
    use.expectFailure(.noProvider, bus.storage())
  }

  @Test func `a late answer is awaited, and is harmless after the deadline`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.fault("GetSecrets", .late(0.2))
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    try service.fault("GetSecrets", .held)
    for _ in 0..<20 {
      StorageUse.read.expectFailure(.timedOut, bus.storage(serviceTimeout: .milliseconds(20)))
    }
    try service.release()
    try expectHealth()
    try service.fault("SetSecret", .late(0.2))
    try storage.setPassword("another", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "another")
  }

  /// A call for many items, which is answered in parts.
  enum LongCall: String, CaseIterable {
    case list = "GetAll"
    case read = "SearchItems"
    case observation

    func callAsFunction(_ storage: SecretServiceStorage, _ keys: [ItemKey]) throws -> Int {
      switch self {
      case .list: return try storage.items(matching: .service("service")).count
      case .read:
        // What is known isn't searched for.
        let absent = keys.indices.map { ItemKey.password(service: "absent", account: "\($0)") }
        return try storage.items(for: absent, details: .all).count + keys.count
      case .observation:
        try storage.observe(.service("service")) { _ in }.cancel()
        return keys.count
      }
    }
  }

  /// The timeout applies to a keyring that is silent, not to one that sends many answers.
  @Test(.tags(.slow), arguments: LongCall.allCases)
  func `a call for many items may take longer than the timeout`(call: LongCall) throws {
    try service.quiet()
    let keys = (0..<200).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try bus.storage().setPassword("s3cret", for: key) }
    let isObservation = call == .observation
    let method = isObservation ? "GetAll" : call.rawValue
    try service.fault(method, .late(isObservation ? 0.9 : 0.6))
    let timeout = Duration.seconds(isObservation ? 3 : 2)
    let storage = bus.storage(serviceTimeout: timeout)
    let start = ContinuousClock.now
    #expect(try call(storage, keys) == keys.count)
    // A shorter time would prove nothing.
    #expect(ContinuousClock.now - start > timeout)
    try service.fault(method, .mute)
    expectError(.timedOut) { try call(storage, keys) }
    // A call ends even if the items change all the time.
    try service.reset()
    guard call == .list else { return }
    #expect(try bus.storage().removeItems(matching: .service("service")) == keys.count)
    for key in keys { try bus.storage().setPassword("s3cret", for: key) }
    try service.churn()
    expectError(.timedOut) { try call(storage, keys) }
  }

  /// One provider adds attributes with these names.
  ///
  /// With any other provider, they belong to an app.
  @Test(arguments: [nil, "org.gnome.keyring"])
  func `an app can use the names of another provider's attributes`(name: String?) throws {
    if let name { try service.takeName(name) }
    let item = SecureItem(
      key: ItemKey(kind: .password, attributes: ["service": "service", "Title": "value"]),
      secret: Secret("s3cret"), attributes: ["Uuid": "1", "Path": "/", "Notes": "text"])
    let storage = bus.storage()
    try storage.save(item, mode: .add)
    #expect(try storage.item(for: item.key)?.attributes == item.attributes)
    #expect(try storage.items(matching: .service("service")).map(\.key) == [item.key])
  }

  @Test func `the result of a write is found out if its answer is lost`() throws {
    // Of another provider, a changed secret is a new item.
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    func count() throws -> Int { try storage.items(matching: .service("service")).count }
    try service.fault("CreateItem", .lost)
    try storage.setPassword("first", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "first")
    try service.fault("SetSecret", .lost)
    try storage.setPassword("second", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "second" && count() == 1)
    // An addition that finds its own item would mistake it for another program's.
    try service.fault("CreateItem", .lost)
    StorageUse.add.expectFailure(.connectionLost, storage, recoverySuggestion: "Reads show")
    #expect(try count() == 2)
    try service.fault("Delete", .lost)
    #expect(try storage.remove(StorageUse.key))
    try service.fault("Delete", .lost)
    #expect(try storage.removeItems(matching: .service("service")) == 1)
    #expect(try count() == 0)
  }

  @Test(.tags(.slow)) func `an unusable session is replaced`() throws {
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
    // If one session after another is unusable, the call ends and changes nothing.
    try makeUnusable(100)
    let first = ItemKey.password(service: "service", account: "1")
    expectError(.connectionLost) { try storage.password(for: first) }
    #expect(throws: SecureStorageError.self) { try storage.setPassword("third", for: first) }
    StorageUse.add.expectFailure(.connectionLost, storage)
    try makeUnusable(0)
    #expect(try storage.password(for: first) == "second")
    #expect(try storage.items(matching: .service("service")).count == 4)
  }

  /// KWallet 5.103 refuses some keys.
  @Test func `a refused session is opened again, with its question`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0, modes: [.encrypted]) }
    try service.takeName("org.kde.kwalletd5")
    let monitor = try BusMonitor(on: bus)
    try service.fault("OpenSession", .once("org.freedesktop.DBus.Error.InvalidArgs"))
    #expect(try bus.storage().password(for: StorageUse.key) == nil)
    let messages = try monitor.finish()
    let opening = ["OpenSession", "SearchItems"]
    #expect(messages == opening + opening + ["SearchItems", "Get"])
  }

  @Test func `a removal whose answer is lost removes nothing else`() throws {
    // Of another provider, nobody knows whether it removes one of several items with the same attributes.
    try self.service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    let service = storage.service("service")
    for account in ["first", "second", "third"] {
      try service.password(account).write("s3cret")
    }
    // The next item that a search would find stays.
    try self.service.fault("Delete", .lost)
    #expect(
      try storage.removeItems(matching: ItemQuery(attributes: ["service": "service"], limit: 1))
        == 1)
    #expect(try service.names().count == 2)
    // Another program's item stays too, although it has all parts of the key.
    let key = ItemKey.password(service: "theirs", account: "account")
    try storage.setPassword("ours", for: key)
    let theirs = key.attributes.merging(["theirs": "yes"]) { $1 }
    try SecretTool.store("theirs", label: "Theirs", theirs, on: bus)
    try self.service.fault("Delete", .lost)
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == nil)
    #expect(try bus.search(theirs).count == 1)
    // Another program may have several items with the same attributes.
    let session = try openSession(at: bus.address)
    for secret in ["old", "new"] {
      try self.service.age(seconds: 100)
      try session.createItem(["service": "equal", "username": "account"], secret: secret)
    }
    try self.service.fault("Delete", .lost)
    #expect(
      try storage.removeItems(matching: ItemQuery(attributes: ["service": "equal"], limit: 1)) == 1)
    #expect(try storage.password(for: .password(service: "equal", account: "account")) == "old")
  }

  @Test func `a stale alias is not a collection`() throws {
    // gnome-keyring lists all its collections. Another provider may only have closed this one.
    try service.takeName("org.gnome.keyring")
    for alias in [FakeService.Alias.none, .stale] {
      try service.alias(alias)
      StorageUse.save.expectFailure(
        .noDefaultCollection, bus.storage(.never), recoverySuggestion: "Create one")
      // What an addition doesn't find may be in another collection.
      StorageUse.add.expectFailure(.noDefaultCollection, bus.storage())
      try StorageUse.save(bus.storage())
      try expectHealth()
    }
  }

  @Test func `a collection that may be closed is not created again`() throws {
    for alias in [FakeService.Alias.none, .stale] {
      try service.alias(alias)
      try service.fault("CreateItem", .error("org.freedesktop.Secret.Error.NoSuchObject"))
      try service.fault("CreateCollection", .leave)
      [StorageUse.save, .add].expectFailures(.locked, bus.storage(), cause: "closed")
    }
  }

  @Test(.tags(.slow)) func `a thread does not time out while another thread waits for the user`()
    throws
  {
    try service.takeName("org.gnome.keyring")
    try service.alias(.none)
    try service.fault("CreateCollection", .prompt(.accept))
    // The user takes this long, which is longer than the keyring may take.
    try service.fault("Prompt", .late(3))
    let storage = bus.storage(serviceTimeout: .seconds(2))
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

  /// Returns an item whose label changes with its secret.
  private func item(_ text: String) -> SecureItem {
    SecureItem(key: StorageUse.key, secret: Secret(text), label: text)
  }

  /// Another program may be about to remove an item that it has added beside the valid one.
  @Test(arguments: [true, false])
  func `a secret and a label arrive if the provider replaces another item`(isRemoved: Bool) throws {
    // Other providers get a new item.
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    try storage.save(item("old"), mode: .addOrReplace)
    try service.duplicateItems()
    if !isRemoved { try service.fault("Delete", .prompt(.dismiss)) }
    _ = try service.takeCalls()
    try storage.save(item("new"), mode: .addOrReplace)
    #expect(try service.takeCalls()["CreateItem"] == (isRemoved ? 2 : 3))
    let found = try bus.storage().items(matching: .key(StorageUse.key, details: .all))
    #expect(found.map(\.secret?.text) == ["new"])
    #expect(found.map(\.label) == ["new"])
  }

  @Test func `an item that took the place of a removed one stays`() throws {
    let storage = bus.storage()
    try storage.save(item("old"), mode: .addOrReplace)
    try service.duplicateItems()
    // The save finds both, and replaces the one that is left.
    try service.retireOldestItem()
    try storage.save(item("new"), mode: .addOrReplace)
    let found = try bus.storage().items(matching: .key(StorageUse.key, details: .all))
    #expect(found.map(\.secret?.text) == ["new"])
  }

  @Test func `the next provider is used if one stops but stays on the bus`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.abdicate()
    let next = try FakeService(on: bus)
    try storage.setPassword("another", for: StorageUse.key)
    #expect(try storage.password(for: StorageUse.key) == "another")
    try next.end()
    try openSession(at: bus.address).waitForEndOfProvider()
    StorageUse.read.expectFailure(.noProvider, storage)
  }

  @Test(.tags(.slow), arguments: Method.allCases)
  func `a storage works again after the provider has left the bus`(method: Method) throws {
    try passForGnomeKeyring(for: method)
    for use in method.uses {
      if method != .openSession { try bus.storage().setPassword("s3cret", for: StorageUse.key) }
      if method == .unlock { try service.lock() }
      try service.fault(method.rawValue, .leave)
      use.expectFailure(.connectionLost, bus.storage(), recoverySuggestion: "Start the keyring")
      use.expectFailure(.noProvider, bus.storage())
      try service.restart()
      try bus.storage().setPassword("s3cret", for: StorageUse.key)
      #expect(try bus.storage().password(for: StorageUse.key) == "s3cret")
      if method == .openSession { try service.restart() }
    }
  }
}
#endif
