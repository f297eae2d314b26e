// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Changes by a cluster's operator, which are errors, and never lead to another value or a missing one.
@Suite(.serialized) struct NamespaceKeysTests {
  private let cluster: Cluster
  private let storage: EtcdStorage
  private let namespace: Namespace
  private let key = ItemKey.password(service: "service", account: "account")
  private let second = ItemKey.password(service: "service", account: "second")

  init() async throws {
    cluster = try await Cluster.sharedWithUsers.value
    storage = try await cluster.newStorage()
    namespace = try #require(Namespace(storage.fleet.settings.namespace))
    try await storage.setPassword("first", for: key)
    try await storage.setPassword("other", for: second)
  }

  /// A process that was started later.
  private func laterProcess(key source: KeySource? = nil) -> EtcdStorage {
    cluster.storage(namespace.name, key: source)
  }

  /// Returns a new key file, which belongs to another namespace.
  private func newKey(_ name: String) async throws -> KeySource {
    let source = KeySource.keyFile(at: cluster.path(name))
    try await cluster.storage(name, key: source).createNamespace()
    return source
  }

  private func values(_ prefix: EtcdKey) async throws -> [KeyValue] {
    let reply = try await cluster.call("/v3/kv/range", RangeRequest(prefix: prefix))
    return try RangeReply(json: reply).values
  }

  /// Stores a number of items whose passwords are their accounts.
  private func fill(_ count: Int) async throws -> [ItemKey] {
    let keys = (0..<count).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword(key.account, for: key) }
    return keys
  }

  /// Begins to replace the data key, and doesn't finish.
  private func addDataKey() async throws {
    let keys = try #require(storage.fleet.keys.current)
    let changes = try await keys.addingDataKey(
      .keyFile(at: cluster.path("key")), storage.fleet.keys.request(.opening))
    for change in changes { try await cluster.put(change.key, try #require(change.value)) }
  }

  /// Returns the encrypted data keys.
  private func dataKeys() async throws -> [KeyValue] {
    try await values(namespace.keys).filter { $0.key != namespace.rootKey }
  }

  // MARK: - Namespaces

  @Test func `a namespace is made only on request`() async throws {
    let missing = cluster.storage("missing")
    await expect(.noStorage) { try await missing.password(for: key) }
    await expect(.noStorage) { try await missing.setPassword("lost", for: key) }
    #expect(try await laterProcess().createNamespace() == false)
    #expect(try await laterProcess().password(for: key) == "first")
  }

  @Test func `a namespace that is removed is an error`() async throws {
    try await cluster.remove(namespace.meta)
    for process in [storage, laterProcess()] {
      await expect(.damaged) { try await process.password(for: key) }
      await expect(.damaged) { try await process.setPassword("lost", for: key) }
    }
    // A key that doesn't exist isn't created for what is left of the namespace.
    let absent = laterProcess(key: .keyFile(at: cluster.path("absent-key")))
    await expect(.damaged) { try await absent.createNamespace() }
    #expect(!FileManager.default.fileExists(atPath: cluster.path("absent-key")))
    for value in try await values(EtcdKey("/\(namespace.name)/v1/")) {
      try await cluster.remove(value.key)
    }
    await expect(.damaged) { try await storage.password(for: key) }
    await expect(.damaged) { try await storage.createNamespace() }
    await expect(.noStorage) { try await laterProcess().password(for: key) }
    #expect(try await laterProcess().createNamespace())
  }

  @Test func `another key opens nothing`() async throws {
    let other = laterProcess(key: .keyFile(at: cluster.path("other-key")))
    let missing = await expect(.keyNotFound, within: .atOnce) { try await other.password(for: key) }
    #expect(missing?.message.contains("other-key") == true)
    #expect(try await other.diagnose(writing: false).failure?.code == .keyNotFound)
    _ = try await newKey("other-key")
    let wrong = await expect(.wrongKey, within: .atOnce) { try await other.password(for: key) }
    #expect(
      wrong?.message == "The namespace \(namespace.name) was encrypted with another key file.")
    await expect(.wrongKey) { try await other.createNamespace() }
    #expect(try await other.diagnose(writing: false).failure?.code == .wrongKey)
    #expect(try await other.diagnose(writing: false).protection == .unknown)
    #expect(try await laterProcess().diagnose(writing: false).protection == .keyFile)
    let absent = laterProcess(key: .keyFile(at: cluster.path("absent-key")))
    await expect(.keyNotFound) { try await absent.createNamespace() }
    #expect(!FileManager.default.fileExists(atPath: cluster.path("absent-key")))
    let passphrase = laterProcess(key: .passphrase(Secret("pass")))
    await expect(.wrongKey) { try await passphrase.password(for: key) }
  }

  @Test func `a key that was copied with a line feed`() async throws {
    let path = cluster.path("copied-key-\(UUID().uuidString)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: cluster.path("key")))
    try #require(
      FileManager.default.createFile(
        atPath: path, contents: bytes + Data("\n".utf8), attributes: [.posixPermissions: 0o600]))
    let wrong = await expect(.wrongKey) {
      try await laterProcess(key: .keyFile(at: path)).password(for: key)
    }
    #expect(wrong?.recoverySuggestion?.contains("line feed") == true)
  }

  // MARK: - The cluster's operator

  @Test func `each changed byte of the description is the same error`() async throws {
    let meta = try #require(try await values(namespace.meta).first).value
    for index in meta.indices {
      var changed = meta
      changed[index] ^= 1
      try await cluster.put(namespace.meta, changed)
      let running = await expect(.damaged) { try await storage.password(for: key) }
      #expect(running?.message.contains("weren't written by this package") == true)
      let later = await #expect(throws: SecureStorageError.self) {
        _ = try await laterProcess().password(for: key)
      }
      // The identifier binds the root key, which the program needs to check the rest.
      #expect(later?.code == ((1..<17).contains(index) ? .wrongKey : .damaged))
      if later?.code == .wrongKey {
        #expect(later?.recoverySuggestion?.contains("changed in the cluster") == true)
      }
    }
  }

  @Test func `names and values are not in the cluster`() async throws {
    let all = try await values(EtcdKey("/\(namespace.name)/"))
    #expect(all.count >= 6)
    for value in all {
      let text = value.key.path + String(decoding: value.value, as: UTF8.self)
      for word in ["service", "account", "second", "first", "other"] {
        #expect(!text.contains(word))
      }
    }
  }

  @Test func `a value in another place is damaged`() async throws {
    let items = try await values(namespace.items)
    try #require(items.count == 2)
    try await cluster.put(items[0].key, items[1].value)
    try await cluster.put(items[1].key, items[0].value)
    let place = try #require(storage.fleet.keys.current).names.item(key)
    let error = await expect(.damaged, within: .atOnce) { try await storage.password(for: key) }
    #expect(error?.message == "The value of \(place.path) isn't what was stored there.")
    await expect(.damaged) { try await laterProcess().password(for: second) }
    let damage = items.map { " The value of \($0.key.path) isn't what was stored there." }
    try await expectFinding("2 of 2 can't be read." + damage.joined(), in: laterProcess())
    // It can be removed, and stored again.
    try await storage.remove(key)
    try await storage.setPassword("new", for: key)
    #expect(try await laterProcess().password(for: key) == "new")
  }

  @Test func `a diagnosis names some of many damaged values`() async throws {
    // They come after the items, which are in order.
    let strangers = (0..<1_000).map { namespace.items + "x\($0)" }
    for start in stride(from: 0, to: strangers.count, by: Transaction.rangeLimit) {
      let part = strangers[start..<start + Transaction.rangeLimit]
      try await cluster.call(
        "/v3/kv/txn", Transaction(success: part.map { .put($0, [0], lease: nil) }))
    }
    let findings = try await laterProcess().diagnose(writing: false).findings
    let text = try #require(findings.first { $0.subject == "items" }).text
    #expect(text.hasPrefix("998 of the first 1000 can't be read. "))
    #expect(text.contains(" The value of \((namespace.items + "x0").path) has an unknown format. "))
    #expect(text.hasSuffix(" And 995 more."))
  }

  /// Each step of the decryption needs exactly the data that says where the encrypted part belongs.
  @Test func `everything that is encrypted is bound to its place`() async throws {
    let keys = try #require(storage.fleet.keys.current)
    let namespaceID = keys.description.id
    let request = storage.fleet.keys.request(.opening)
    func binding(_ name: String) -> [UInt8] {
      namespaceID + Array("\(namespace.name)\0\(name)".utf8)
    }

    let rootValue = try #require(try await values(namespace.rootKey).first)
    let wrappedRoot = try #require(WrappedKey(rootValue.value.dropFirst()))
    let wrapping = try await WrappingKey(
      wrappedRoot.parameters, of: .keyFile(at: cluster.path("key")), for: NamespaceKeys.use,
      request)
    _ = try wrapping.unwrap(wrappedRoot.box, authenticating: binding("root"), request)

    let wrappedKey = try #require(try await dataKeys().first)
    let dataKey = try wrapping.unwrap(
      wrappedKey.value.dropFirst(),
      authenticating: binding(keys.primary.id.bigEndianBytes.hexadecimal), request)

    let value = try #require(try await values(keys.names.item(key)).first)
    let header: [UInt8] = [Namespace.formatVersion] + keys.primary.id.bigEndianBytes
    #expect(Array(value.value.prefix(5)) == header)
    let content = try dataKey.open(
      value.value[5...], authenticating: header + namespaceID + Array(value.key.path.utf8))
    let item = try FleetItem(content, revision: value.revision)
    #expect(item.secret == Secret("first"))
  }

  /// Each service of the fleet has the keys, and may write in its own place.
  @Test func `an item with the key of another service is damaged`() async throws {
    let foreign = SecureItem(key: .password(service: "other", account: "account"))
    let keys = try #require(storage.fleet.keys.current)
    let place = keys.names.item(key)
    let item = FleetItem.forged(foreign.key, "forged")
    try await cluster.put(place, try keys.seal(item, place))
    await expect(.damaged) { try await storage.password(for: key) }
    await expect(.damaged) { try await storage.items(matching: ItemQuery()) }
    #expect(try await storage.password(for: foreign.key) == nil)
  }

  @Test func `a value of another place is never taken for the one that was asked for`() async throws
  {
    let (reader, transport) = try cluster.faultyStorage(like: storage)
    #expect(try await reader.password(for: key) == "first")
    let keys = try #require(reader.fleet.keys.current)
    transport.redirect(keys.names.item(key), to: keys.names.item(second))
    await expect(.damaged) { try await reader.password(for: key) }
    await expect(.damaged) { try await reader.items(for: [key, second], details: .secret) }
    await expect(.damaged) {
      try await reader.save(SecureItem(key: key, label: "new"), mode: .update)
    }
    await expect(.damaged) { try await reader.remove(key) }
    #expect(try await storage.password(for: key) == "first")
    #expect(try await storage.password(for: second) == "other")
  }

  @Test func `a node that always reports other keys ends no call's deadline`() async throws {
    let (reader, transport) = try cluster.faultyStorage(like: storage, timeout: .seconds(2))
    #expect(try await reader.password(for: key) == "first")
    // The conditions fail, and the reply has the same keys as before.
    transport.alter(requests: { $0.replacing(#""EQUAL""#, with: #""NOT_EQUAL""#) })
    await expect(.timedOut) { try await reader.password(for: key) }
    await expect(.timedOut) { try await reader.removeItems(matching: .service("service")) }
    // The last change may be on its way when the time is over.
    await #expect(throws: SecureStorageError.self) {
      try await reader.rewrapKeys(with: .keyFile(at: cluster.path("key")))
    }
    await #expect(throws: SecureStorageError.self) { try await reader.rotateDataKey() }
    // A list works, and no removal does.
    transport.alter(requests: { request in
      guard request.contains("request_delete_range") else { return request }
      return request.replacing(#""EQUAL""#, with: #""NOT_EQUAL""#)
    })
    await expect(.timedOut) { try await reader.removeItems(matching: .service("service")) }
    // From now on, the rotation begins, and every change of an item is refused.
    let count = transport.writeCount
    transport.alter(requests: { [unowned transport] request in
      guard transport.writeCount > count, request.contains("request_put") else { return request }
      return request.replacing(#""EQUAL""#, with: #""NOT_EQUAL""#)
    })
    await #expect(throws: SecureStorageError.self) { try await reader.rotateDataKey() }
    #expect(try await storage.rotateDataKey() == 2)
  }

  @Test func `a page without values isn't followed by others`() async throws {
    let (reader, transport) = try cluster.faultyStorage(like: storage, timeout: .seconds(2))
    #expect(try await reader.items(matching: .service("service")).count == 2)
    transport.alter(replies: { reply in
      // A reply to a request for several ranges has the keys of the namespace.
      guard reply.matches(of: /"response_range"/).count == 1 else { return reply }
      return reply.replacing(/"kvs":\[[^\]]*\]/, with: #""more":true"#)
    })
    await expect(.noProvider) { try await reader.items(matching: .service("service")) }
    await expect(.noProvider) { try await reader.rotateDataKey() }
    transport.alter()
    #expect(try await reader.items(matching: .service("service")).count == 2)
  }

  @Test func `a changed bit is damage`() async throws {
    let items = try await values(namespace.items)
    for index in [0, 1, items[0].value.count / 2, items[0].value.count - 1] {
      var bytes = items[0].value
      bytes[index] ^= 1
      try await cluster.put(items[0].key, bytes)
      let error = await expect(.damaged, within: .atOnce) {
        try await storage.items(matching: .service("service"))
      }
      #expect(error?.message.hasPrefix("The value of \(items[0].key.path) ") == true)
    }
    try await expectFinding("1 of 2 can't be read", in: laterProcess())
    let dataKey = namespace.dataKey(try #require(storage.fleet.keys.current).primary.id)
    for place in [namespace.meta, namespace.primary, namespace.rootKey, dataKey] {
      let value = try #require(try await values(place).first)
      var bytes = value.value
      bytes[bytes.count - 1] ^= 1
      try await cluster.put(place, bytes)
      let error = await #expect(throws: SecureStorageError.self) {
        _ = try await laterProcess().password(for: key)
      }
      #expect(error?.code == (place == namespace.rootKey ? .wrongKey : .damaged))
      try await cluster.put(place, value.value)
    }
  }

  @Test(arguments: [false, true])
  func `keys from before a change are refused`(isRotation: Bool) async throws {
    let old = try await values(namespace.meta) + values(namespace.primary) + values(namespace.keys)
    if isRotation {
      #expect(try await storage.rotateDataKey() == 2)
    } else {
      try await storage.rewrapKeys(with: newKey("next-key"))
    }
    #expect(try await storage.password(for: key) == "first")
    for value in old { try await cluster.put(value.key, value.value) }
    await expect(.damaged) { try await storage.password(for: key) }
    await expect(.damaged) { try await storage.setPassword("lost", for: key) }
  }

  enum WrongDataKey: CaseIterable { case ofOtherNamespace, inEachOthersPlaces, rootKey }

  /// A process that took the root key for the data key would encrypt items with it.
  @Test(arguments: WrongDataKey.allCases)
  func `a data key in another place is damaged`(wrong: WrongDataKey) async throws {
    let old = try await dataKeys().map(\.key)
    try await addDataKey()
    let pair = try await dataKeys()
    try #require(pair.count == 2)
    let new = try #require(pair.first { !old.contains($0.key) }).key
    switch wrong {
    case .ofOtherNamespace:
      let other = try await cluster.newStorage()
      let otherNamespace = try #require(Namespace(other.fleet.settings.namespace))
      let foreign = try await values(otherNamespace.keys).first { $0.key != otherNamespace.rootKey }
      try await cluster.put(new, try #require(foreign).value)
    case .inEachOthersPlaces:
      try await cluster.put(pair[0].key, pair[1].value)
      try await cluster.put(pair[1].key, pair[0].value)
    case .rootKey:
      let rootValue = try #require(try await values(namespace.rootKey).first)
      let root = try #require(WrappedKey(rootValue.value.dropFirst()))
      try await cluster.put(new, [Namespace.formatVersion] + root.box)
    }
    // There is no item that could be damaged instead.
    let absent = ItemKey.password(service: "service", account: "absent")
    for process in [storage, laterProcess()] {
      let error = await expect(.damaged, within: .atOnce) {
        try await process.password(for: absent)
      }
      #expect(error?.message.contains("a data key isn't what was stored in its place") == true)
      await expect(.damaged) { try await process.setPassword("lost", for: absent) }
    }
    #expect(try await laterProcess().diagnose(writing: false).failure?.code == .damaged)
  }

  @Test func `a data key that was removed isn't accepted again`() async throws {
    let oldKeys = try await values(namespace.keys)
    let oldItems = try await values(namespace.items)
    #expect(try await storage.rotateDataKey() == 2)
    let newKeys = try await values(namespace.keys).map(\.key)
    for value in oldKeys where !newKeys.contains(value.key) {
      try await cluster.put(value.key, value.value)
    }
    for value in oldItems { try await cluster.put(value.key, value.value) }
    await expect(.damaged) { try await storage.password(for: key) }
    await expect(.damaged) { try await laterProcess().password(for: key) }
    try await expectFinding(
      "is encrypted with a key that the namespace doesn't have", in: laterProcess())
  }

  @Test func `a data key that is missing doesn't make items look absent`() async throws {
    let dataKey = try #require(try await dataKeys().first)
    try await cluster.remove(dataKey.key)
    let later = laterProcess()
    let error = await expect(.damaged) { try await later.password(for: key) }
    #expect(error?.message.contains("a data key is missing") == true)
    await expect(.damaged) { try await later.items(matching: .service("service")) }
    await expect(.damaged) { try await later.setPassword("lost", for: key) }
    await expect(.damaged) { try await later.createNamespace() }
    try await expectFinding("a data key is missing", in: later)
    #expect(try await later.diagnose(writing: false).failure?.code == .damaged)
    // A process that has read the key before goes on.
    #expect(try await storage.password(for: key) == "first")
    try await cluster.put(dataKey.key, dataKey.value)
    #expect(try await later.password(for: key) == "first")
  }

  @Test func `items whose data key goes missing during its replacement are damaged`() async throws {
    let keys = try #require(storage.fleet.keys.current)
    // The items still have the old key.
    try await addDataKey()
    #expect(try await laterProcess().password(for: key) == "first")
    try await cluster.remove(namespace.dataKey(keys.primary.id))
    for process in [storage, laterProcess()] {
      await expect(.damaged) { try await process.password(for: key) }
      await expect(.damaged) { try await process.rotateDataKey() }
    }
    try await expectFinding("a data key is missing", in: laterProcess())
  }

  @Test func `an item that can't be read doesn't end an observation`() async throws {
    let place = try #require(try await values(namespace.items).first)
    try await cluster.put(place.key, [1, 2, 3])
    let events = try await EventLog(of: laterProcess())
    let third = ItemKey.password(service: "service", account: "third")
    try await storage.setPassword("new", for: third)
    events.wait(for: .changed(.created(third)))
  }

  // MARK: - Passphrases

  /// A user who is asked for a passphrase.
  private final class User: Sendable {
    let questions = Atomic(0)

    /// Returns a source with the user's answer, which takes a while.
    func source(answeringAfter time: Duration = .zero) -> KeySource {
      .passphrase(cost: ScryptCost(logarithm: 10, blockSize: 8, parallelism: 1)) {
        _ async throws(SecureStorageError) in
        self.questions.add(1, ordering: .relaxed)
        if time > .zero { _ = await Waiter.wait(until: .now(plus: time)) { _ in } }
        return Secret("pass")
      }
    }
  }

  @Test func `a user is asked once, whatever becomes of the data key`() async throws {
    let user = User()
    let name = "test-\(UUID().uuidString)"
    let passphrase = KeySource.passphrase(Secret("pass"))
    let other = cluster.storage(name, key: passphrase)
    try await other.createNamespace()
    try await other.setPassword("first", for: key)
    let asking = cluster.storage(name, key: user.source())
    #expect(try await asking.password(for: key) == "first")
    let events = try await EventLog(of: asking)
    try await other.rotateDataKey()
    try await other.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(try await asking.password(for: key) == "second")
    #expect(try await asking.rotateDataKey() == 1)
    #expect(user.questions.load(ordering: .relaxed) == 1)
    // The passphrase is known, so an observation doesn't ask the user.
    let later = try await cluster.storage(name, key: passphrase)
      .observeWithoutBlocking(nil) { _ in }
    later.cancel()
  }

  @Test func `the time in which a user answers doesn't count`() async throws {
    let time = Duration.seconds(2)
    let slow = User().source(answeringAfter: time)
    let name = "test-\(UUID().uuidString)"
    func process() -> EtcdStorage { cluster.storage(name, key: slow, timeout: time * 9 / 10) }
    #expect(try await process().createNamespace())
    try await process().setPassword("first", for: key)
    #expect(try await process().rotateDataKey() == 1)
    try await process().rewrapKeys(with: slow)
    // This process knows neither the new data key nor the new passphrase.
    let running = process()
    #expect(try await running.password(for: key) == "first")
    let last = process()
    try await last.rewrapKeys(with: slow)
    #expect(try await last.rotateDataKey() == 1)
    try await running.setPassword("second", for: key)
    #expect(try await running.password(for: key) == "second")
    // One of two operations asks, and the other one waits for the answer.
    let fresh = process()
    async let first = fresh.password(for: key)
    async let other = fresh.password(for: key)
    #expect(try await [first, other] == ["second", "second"])
  }

  // MARK: - Changing keys

  /// After the restoration, the new keys have the revisions that the lost ones had.
  @Test func `a process that knows lost keys encrypts nothing with them`() async throws {
    let cluster = try Cluster(count: 1)
    let running = try await cluster.newStorage()
    try await running.setPassword("first", for: key)
    let snapshot = try cluster.saveSnapshot("backup")
    func laterProcess() -> EtcdStorage { cluster.storage(running.fleet.settings.namespace) }
    try await laterProcess().rotateDataKey()
    #expect(try await running.password(for: key) == "first")
    cluster.nodes[0].kill()
    try cluster.nodes[0].restore(snapshot)
    try Cluster.start(cluster.nodes)
    try await laterProcess().rotateDataKey()
    await expect(.damaged) { try await running.setPassword("lost", for: key) }
    await expect(.damaged) {
      try await running.setPassword("lost", for: .password(service: "service", account: "new"))
    }
    #expect(try await laterProcess().items(matching: ItemQuery()).map(\.key) == [key])
  }

  @Test func `several processes may replace the data key at once`() async throws {
    let keys = try await fill(150)
    let processes = (0..<3).map { _ in laterProcess() }
    try await withThrowingTaskGroup { group in
      for process in processes { group.addTask { _ = try await process.rotateDataKey() } }
      try await group.waitForAll()
    }
    let found = try await laterProcess().items(for: keys, details: .secret)
    #expect(keys.allSatisfy { found[$0]?.secret?.text == $0.account })
    #expect(try await values(namespace.keys).count == 2)
  }

  @Test func `a process without the new key can't change the keys`() async throws {
    let running = laterProcess()
    #expect(try await running.password(for: key) == "first")
    let (new, newer) = (try await newKey("unknown-key"), try await newKey("another-key"))
    try await storage.rewrapKeys(with: new)
    await expect(.wrongKey) { try await running.rotateDataKey() }
    await expect(.wrongKey) { try await running.rewrapKeys(with: newer) }
    #expect(try await laterProcess(key: new).password(for: key) == "first")
    // The same change again is done already.
    try await running.rewrapKeys(with: new)
    try await running.rotateDataKey()
  }

  @Test func `a watch doesn't ask for a new key for each item`() async throws {
    _ = try await fill(40)
    let (running, transport) = try cluster.faultyStorage(like: storage)
    let events = try await EventLog(of: running)
    try await storage.rewrapKeys(with: newKey("unknown-to-a-watch"))
    let before = transport.count(of: "/v3/kv/txn")
    #expect(try await storage.rotateDataKey() == 42)
    #expect(await waitUntil { events.count >= 42 })
    #expect(transport.count(of: "/v3/kv/txn") - before < 20)
  }

  @Test func `a replacement that ended after its first batch is begun again`() async throws {
    let keys = try await fill(150)
    let (running, transport) = try cluster.faultyStorage(like: storage, timeout: .seconds(2))
    let writes = Atomic(0)
    transport.alter(requests: { (request) throws(EtcdFailure) in
      // The first write adds a key, and the second one moves some items to it.
      if request.contains("request_put"), writes.add(1, ordering: .relaxed).newValue > 2 {
        throw EtcdFailure(cause: .unreachable("a test"))
      }
      return request
    })
    await #expect(throws: SecureStorageError.self) { try await running.rotateDataKey() }
    let process = laterProcess()
    #expect(try await process.password(for: key) == "first")
    let current = try #require(process.fleet.keys.current)
    let moved = try await values(namespace.items).count { current.isCurrent($0) }
    #expect((1..<152).contains(moved))
    #expect(try await dataKeys().count == 2)

    #expect(try await process.rotateDataKey() == 152)
    #expect(try await dataKeys().count == 1)
    let found = try await laterProcess().items(for: keys, details: .secret)
    #expect(keys.allSatisfy { found[$0]?.secret?.text == $0.account })
  }

  /// The key of the replacement that wasn't finished may be known to a thief.
  @Test func `a data key is replaced although its replacement wasn't finished`() async throws {
    try await addDataKey()
    let thief = laterProcess()
    try await thief.setPassword("second", for: key)
    let stolen = try #require(thief.fleet.keys.current)
    #expect(try await storage.rotateDataKey() == 2)
    for value in try await values(namespace.items) {
      #expect(throws: FleetItem.Damage.self) { try stolen.open(value) }
    }
    #expect(try await values(namespace.keys).count == 2)
    #expect(try await laterProcess().password(for: key) == "second")
  }

  @Test func `a damaged item keeps no other from the new data key`()
    async throws
  {
    let before = try await values(namespace.items)
    let junk = EtcdKey(namespace.items.path + "!")
    try await cluster.put(junk, [1, 2, 3])
    let error = await expect(.damaged) { try await storage.rotateDataKey() }
    #expect(error?.message.contains(junk.path) == true)
    let after = try await values(namespace.items).filter { $0.key != junk }
    #expect(zip(before, after).allSatisfy { $0.value.prefix(5) != $1.value.prefix(5) })
    #expect(try await values(namespace.keys).count == 3)
    try await cluster.remove(junk)
    try await storage.rotateDataKey()
    #expect(try await values(namespace.keys).count == 2)
    #expect(try await laterProcess().password(for: key) == "first")
  }

  @Test func `a new data key replaces the old one`() async throws {
    let running = laterProcess()
    #expect(try await running.password(for: key) == "first")
    let before = try await values(namespace.items)
    let log = Mutex<[StorageEvent]>([])
    let observation = try await running.observeWithoutBlocking(nil) { event in
      log.withLock { $0.append(event) }
    }
    #expect(try await storage.rotateDataKey() == 2)
    let after = try await values(namespace.items)
    #expect(zip(before, after).allSatisfy { $0.value.prefix(5) != $1.value.prefix(5) })
    #expect(try await values(namespace.keys).count == 2)
    // The process that was running has the new key with its next request.
    #expect(try await running.password(for: key) == "first")
    try await running.setPassword("written with the new key", for: key)
    #expect(try await laterProcess().password(for: key) == "written with the new key")
    #expect(
      try await storage.items(matching: .service("service")).map(\.key) == [key, second],
      "the order is that of the changes")
    try await running.remove(second)
    while log.withLock({ !$0.contains(.changed(.removed(second))) }) { await Task.yield() }
    // Encrypting an item with another key isn't a change.
    #expect(
      log.withLock { $0 } == [.changed(.replaced(key)), .changed(.removed(second))])
    observation.cancel()
  }

  @Test(arguments: [false, true])
  func `a reply that is late doesn't bring older keys back`(initializes: Bool) async throws {
    let (running, transport) = try cluster.faultyStorage(like: storage)
    #expect(try await running.password(for: key) == "first")
    try await storage.rotateDataKey()
    var late: Task<String?, any Error>?
    try await transport.holdingNextReply {
      late = Task { [key] in
        if initializes { #expect(try await running.createNamespace() == false) }
        return try await running.password(for: key)
      }
      #expect(transport.waitForHeldReply())
      try await storage.rotateDataKey()
      #expect(try await running.password(for: key) == "first")
    }
    #expect(try await late?.value == "first")
  }

  @Test func `many items are read while the data key is replaced`() async throws {
    let keys = try await fill(120)
    let (running, transport) = try cluster.faultyStorage(like: storage)
    #expect(try await running.password(for: key) == "first")
    var read: Task<[ItemKey: SecureItem], any Error>?
    // The items are in two requests. The data key is replaced between them.
    try await transport.holdingNextReply {
      read = Task { try await running.items(for: keys, details: .secret) }
      #expect(transport.waitForHeldReply())
      try await storage.rotateDataKey()
    }
    let found = try await read?.value ?? [:]
    #expect(keys.allSatisfy { found[$0]?.secret?.text == $0.account })
  }

  @Test func `keys are wrapped with another key`() async throws {
    let running = laterProcess()
    #expect(try await running.password(for: key) == "first")
    let items = try await values(namespace.items)
    let new = try await newKey("new-key")
    try await storage.rewrapKeys(with: new)
    #expect(try await values(namespace.items).map(\.value) == items.map(\.value))
    await expect(.wrongKey) { try await laterProcess().password(for: key) }
    #expect(try await laterProcess(key: new).password(for: key) == "first")
    #expect(try await storage.password(for: key) == "first")
    // A running process goes on, until there is a key that it can't unwrap.
    try await running.setPassword("newer", for: key)
    #expect(try await storage.password(for: key) == "newer")
    try await storage.rotateDataKey()
    await expect(.wrongKey) { try await running.password(for: key) }
    #expect(try await laterProcess(key: new).password(for: key) == "newer")
  }
}
#endif
