// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// A storage of three layers, of which the second is written.
@Suite struct LayeredStorageTests {
  private let first = FaultyStorage(NamedStorage("first"))
  private let second = FaultyStorage(NamedStorage("second"))
  private let third = FaultyStorage(NamedStorage("third"))
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

  private var storage: LayeredStorage {
    LayeredStorage([.reading(first), .writing(second), .reading(third)])
  }

  private func storage(isRequired: Bool) -> LayeredStorage {
    LayeredStorage([.reading(first, isRequired: isRequired), .writing(second)])
  }

  private func code(_ body: () throws -> Void) throws -> SecureStorageError.Code? {
    do { try body() } catch let error as SecureStorageError { return error.code }
    return nil
  }

  // MARK: - Reading

  @Test(.tags(.slow), arguments: StorageContract.cases(for: LayeredStorage.self))
  func `layers keep the contract`(rule: StorageContract) throws {
    try rule.verify(storage)
    try rule.verify(LayeredStorage([.writing(second)]))
  }

  @Test func `each item comes from the first layer that has it`() throws {
    try first.setPassword("1", for: key)
    try second.setPassword("2", for: key)
    try second.setPassword("2", for: other)
    let last = ItemKey.password(service: "service", account: "last")
    try third.setPassword("3", for: other)
    try third.setPassword("3", for: last)
    #expect(try storage.password(for: key) == "1")
    #expect(try storage.password(for: other) == "2")
    let items = try storage.items(for: [key, other, last], details: .secret)
    #expect(items.mapValues { $0.secret?.text } == [key: "1", other: "2", last: "3"])
    #expect(try storage.origin(of: key) == "first")
    #expect(try storage.origin(of: other) == "second")
    #expect(try storage.origin(of: last) == "third")
    #expect(try storage.origin(of: .password(service: "service", account: "none")) == nil)
  }

  /// Another program moves an item from the second layer to the first one, or back, while both are listed.
  @Test(arguments: [true, false])
  func `a list has an item once that changes its layer meanwhile`(isMovedUp: Bool) throws {
    let (upper, lower) = (first, second)
    try (isMovedUp ? lower : upper).setPassword("moved", for: key)
    try lower.setPassword("lower", for: other)
    if !isMovedUp { try lower.setPassword("moved", for: key) }
    let key = key
    let isMoved = Atomic(false)
    // The first layer was listed before the second one.
    second.fail { call in
      guard call.operation == .read, call.query != nil,
        !isMoved.exchange(true, ordering: .sequentiallyConsistent)
      else { return nil }
      #expect(throws: Never.self) {
        if isMovedUp { try upper.setPassword("moved", for: key) } else { try upper.remove(key) }
      }
      return nil
    }
    let found = try storage.items(matching: .service("service", details: .secret))
    let wasMoved = isMoved.load(ordering: .relaxed)
    #expect(wasMoved)
    let texts = found.map { "\($0.key.attributes["username"] ?? "") \($0.secret?.text ?? "")" }
    #expect(Set(texts) == ["account moved", "other lower"] && texts.count == 2)
  }

  @Test func `a property says where its value comes from`() throws {
    let property = Password("account", service: "service", storage: storage.cached())
    #expect(try property.origin() == nil)
    try third.setPassword("3", for: key)
    #expect(try property.origin() == "third")
    #expect(property.wrappedValue == "3")
    property.wrappedValue = "2"
    #expect(try property.origin() == "second")
    #expect(property.wrappedValue == "2")
    #expect(try FirstAvailableStorage([storage]).origin(of: key) == "second")
  }

  /// Every code of the library, and one of another storage.
  @Test(arguments: SecureStorageError.Code.known + [.init(rawValue: "anotherMakers")])
  func `only absence and what is declared fall through`(code: SecureStorageError.Code) throws {
    try second.setPassword("2", for: key)
    first.fail(.read, with: code)
    let unreachable: Set<SecureStorageError.Code> = [
      .noSessionBus, .noProvider, .providerFailed, .connectionLost, .timedOut,
    ]
    for isRequired in [true, false] {
      let fallsThrough = code == .noStorage || !isRequired && unreachable.contains(code)
      let storage = storage(isRequired: isRequired)
      let expected = fallsThrough ? nil : code
      #expect(try self.code { _ = try storage.password(for: key) } == expected)
      #expect(try self.code { _ = try storage.origin(of: key) } == expected)
      #expect(try self.code { _ = try storage.items(matching: .service("service")) } == expected)
      if fallsThrough { #expect(try storage.password(for: key) == "2") }
    }
  }

  @Test func `the layers after the one that has the item aren't asked`() throws {
    try first.setPassword("1", for: key)
    second.fail(.read, with: .locked)
    #expect(try storage.password(for: key) == "1")
    #expect(try storage.items(for: [key], details: .all).count == 1)
    #expect(second.calls.isEmpty && third.calls.isEmpty)
  }

  @Test func `a search returns what a read of each key returns`() throws {
    try first.save(SecureItem(key: key, secret: Secret("1"), label: "one"), mode: .add)
    try second.save(SecureItem(key: key, secret: Secret("2"), label: "two"), mode: .add)
    try second.save(SecureItem(key: other, secret: Secret("2"), label: "two"), mode: .add)
    try third.save(SecureItem(key: other, secret: Secret("3"), label: "one"), mode: .add)
    let all = try storage.items(matching: .service("service", details: .secret))
    #expect(all.count == 2 && all.allSatisfy { $0.label == nil && $0.modified == nil })
    #expect(Set(all.compactMap(\.secret?.text)) == ["1", "2"])
    // The item of the third layer has the label, and is hidden by an item that doesn't.
    let labeled = try storage.items(matching: ItemQuery(label: "one", details: .secret))
    #expect(labeled.map(\.secret?.text) == ["1"])
    let newest = try storage.items(matching: ItemQuery(label: "two", details: .all, limit: 1))
    #expect(newest.map(\.secret?.text) == ["2"])
  }

  // MARK: - Saving and removing

  @Test func `an item before the written layer can't be saved`() throws {
    try first.setPassword("1", for: key)
    for mode in [SaveMode.addOrReplace, .update] {
      let error = expectError(.readOnly) { try storage.setPassword("new", for: key, mode: mode) }
      #expect(error?.message.contains("first") == true)
    }
    expectError(.itemAlreadyExists) { try storage.setPassword("new", for: key, mode: .add) }
    #expect(second.count(of: .save) == 0)
  }

  @Test func `an item after the written layer is saved before it`() throws {
    let item = SecureItem(
      key: key, secret: Secret("3"), label: "label", attributes: ["a": "1", "b": "1"])
    try third.save(item, mode: .add)
    expectError(.itemAlreadyExists) { try storage.setPassword("new", for: key, mode: .add) }
    try storage.save(SecureItem(key: key, attributes: ["b": "2"]), mode: .update)
    let saved = try second.item(for: key)
    #expect(saved?.secret?.text == "3" && saved?.label == "label")
    #expect(saved?.attributes?["a"] == "1" && saved?.attributes?["b"] == "2")
    #expect(try third.item(for: key)?.attributes?["b"] == "1")
    try storage.setPassword("new", for: key)
    #expect(try storage.password(for: key) == "new" && third.password(for: key) == "3")
    #expect(try second.item(for: key)?.label == "label")
  }

  @Test func `an item that another program adds meanwhile keeps its parts`() throws {
    try third.setPassword("3", for: key)
    second.fail(.save, with: .itemAlreadyExists, onCall: 1)
    // The other program's item isn't in the second layer at the time of the check.
    try storage.save(SecureItem(key: key, secret: Secret("new")), mode: .addOrReplace)
    #expect(second.calls.filter { $0.operation == .save }.map(\.mode) == [.add, .addOrReplace])
    #expect(try second.password(for: key) == "new")
  }

  @Test func `a save asks the written layer only once if it's the last`() throws {
    let storage = storage(isRequired: true)
    expectError(.itemNotFound) { try storage.setPassword("new", for: key, mode: .update) }
    try storage.setPassword("new", for: key, mode: .add)
    expectError(.itemAlreadyExists) { try storage.setPassword("new", for: key, mode: .add) }
    try storage.setPassword("newer", for: key)
    #expect(second.count(of: .read) == 0 && second.count(of: .save) == 4)
    #expect(try storage.password(for: key) == "newer")
  }

  @Test func `updating needs an item in any layer`() throws {
    expectError(.itemNotFound) { try storage.setPassword("new", for: key, mode: .update) }
    try third.setPassword("3", for: key)
    try storage.setPassword("new", for: key, mode: .update)
    #expect(try second.password(for: key) == "new")
  }

  @Test func `an item of another layer can't be removed`() throws {
    for layer in [first, third] {
      try second.setPassword("2", for: key)
      try second.setPassword("2", for: other)
      try layer.setPassword("1", for: key)
      for body: () throws -> Void in [
        { try storage.remove(key) },
        { try storage.removeItems(matching: .service("service")) },
      ] {
        let error = expectError(.readOnly) { try body() }
        #expect(error?.operation == .remove)
      }
      #expect(try second.items(matching: .service("service")).count == 2)
      try layer.remove(key)
      #expect(try storage.remove(key))
      #expect(try !storage.exists(key))
    }
    #expect(try storage.removeItems(matching: .service("service")) == 1)
    #expect(try !storage.remove(other))
  }

  @Test func `a removal reveals no item of another layer`() throws {
    try second.save(SecureItem(key: key, secret: Secret("2"), label: "mine"), mode: .add)
    try third.save(SecureItem(key: key, secret: Secret("3"), label: "default"), mode: .add)
    expectError(.readOnly) { try storage.removeItems(matching: ItemQuery(label: "mine")) }
    #expect(try storage.password(for: key) == "2")
  }

  @Test func `a search that may not unlock doesn't ask the user`() throws {
    try second.setPassword("2", for: key)
    let locked = QuietStorage()
    let storage = LayeredStorage([.reading(locked), .writing(second)])
    var query = ItemQuery.service("service", details: .secret)
    query.allowsUnlocking = false
    expectError(.locked) { try storage.items(matching: query) }
    #expect(locked.prompts.withLock { $0 } == 0)
    // A removal needs to know what the layer has.
    expectError(.userCanceled) { try storage.removeItems(matching: query) }
    #expect(try second.password(for: key) == "2" && locked.prompts.withLock { $0 } == 1)
  }

  @Test func `a layer that is lost in the middle of a search hides what it found`() throws {
    for storage in [first, second] { try storage.setPassword("s3cret", for: key) }
    try second.setPassword("s3cret", for: other)
    // The first call lists the items, and the other one looks for that which only the second layer has.
    first.fail(.read, with: .connectionLost, onCall: 2)
    var query = ItemQuery.service("service")
    query.allowsUnlocking = false
    let found = try storage(isRequired: false).items(matching: query)
    #expect(found.count == 2 && Set(found.map(\.key)) == [key, other])
  }

  @Test(arguments: [SecureStorageError.Code.connectionLost, .locked])
  func `a write skips no layer`(code: SecureStorageError.Code) throws {
    first.fail(.read, with: code)
    let storage = storage(isRequired: false)
    #expect(try self.code { try storage.setPassword("new", for: key) } == code)
    #expect(try self.code { try storage.remove(key) } == code)
    #expect(second.count(of: .save) == 0 && second.count(of: .remove) == 0)
    // A storage that isn't there has no items.
    first.reset()
    first.fail(.read, with: .noStorage)
    try storage.setPassword("new", for: key)
    #expect(try storage.remove(key))
  }

  @Test func `a storage without a written layer is read-only`() throws {
    try third.setPassword("3", for: key)
    let storage = LayeredStorage([.reading(first), .reading(third)])
    #expect(try storage.password(for: key) == "3")
    expectError(.readOnly) { try storage.setPassword("new", for: key) }
    expectError(.readOnly) { try storage.remove(key) }
    #expect(storage.diagnose().failure?.code == .readOnly)
    #expect(try LayeredStorage([]).password(for: key) == nil)
  }

  // MARK: - Observing

  @Test(.timeLimit(.minutes(1))) func `the changes of all layers are reported`() async throws {
    let storage = LayeredStorage([
      .reading(EnvironmentStorage(service: "service", prefix: "LAYERED_STORAGE_TEST_")),
      .reading(first), .writing(second),
    ])
    var changes = try await storage.changes().makeAsyncIterator()
    try await first.setPassword("1", for: other)
    try await storage.setPassword("2", for: key)
    #expect(await changes.next() == .created(other))
    #expect(await changes.next() == .created(key))
  }

  @Test func `a layer that can't be observed is an error`() throws {
    let left = ReportingStorage()
    let storage = LayeredStorage([.reading(left), .writing(SilentStorage())])
    expectError(.notObservable) { try storage.observe(nil) { _ in } }
    #expect(left.observers.isEmpty, "the first layer is still observed")
  }

  @Test func `observers are interrupted until all layers are back`() throws {
    let (left, right) = (ReportingStorage(), ReportingStorage())
    let storage = LayeredStorage([.reading(left), .writing(right)])
    let events = Mutex<[StorageEvent]>([])
    let subscription = try storage.observe(nil) { event in events.withLock { $0.append(event) } }
    left.observers.report(.interrupted)
    right.observers.report(.interrupted)
    left.observers.report(.resumed)
    right.observers.report(.locked)
    right.observers.report(.resumed)
    // An observer that comes later may see only the end of an interruption.
    left.observers.report(.resumed)
    left.observers.report(.interrupted)
    let all = [StorageEvent.interrupted, .locked, .resumed, .interrupted]
    #expect(waitUntil { events.withLock(\.count) == all.count })
    #expect(events.withLock { $0 } == all)
    subscription.cancel()
    #expect(left.observers.isEmpty && right.observers.isEmpty)
  }

  // MARK: - Diagnosis

  @Test(
    arguments: [
      (.locked, .locked), (.noStorage, nil), (.noProvider, .readOnly),
      (.connectionLost, .connectionLost), (.readOnly, nil),
    ] as [(SecureStorageError.Code, SecureStorageError.Code?)])
  func `the diagnosis says whether the storage can be written`(
    code: SecureStorageError.Code, expected: SecureStorageError.Code?
  ) throws {
    first.fail(.read, with: code)
    #expect(storage.diagnose(writing: true).failure?.code == expected)
    let findings = storage.diagnose().findings
    #expect(findings.last?.text == "first, then second (written), then third")
    #expect(findings.contains { $0.storage == "third" })
    // A selection isn't made past items in other layers.
    let selected = try? FirstAvailableStorage([storage, InMemoryStorage()]).selection().index
    #expect(selected == (code == .connectionLost ? nil : 0))
  }

  @Test func `a storage none of whose layers exist is unavailable`() throws {
    for layer in [first, second, third] { layer.fail(.read, with: .noProvider) }
    #expect(storage.diagnose().failure?.code == .noProvider)
    #expect(try FirstAvailableStorage([storage, InMemoryStorage()]).selection().index == 1)
  }
}

/// A locked storage that lists nothing, such as gnome-keyring before its first unlock, and whose user declines.
private final class QuietStorage: ImmediateStorage, EmptyStorage {
  let prompts = Mutex(0)

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    if query.allowsUnlocking {
      prompts.withLock { $0 += 1 }
      throw error(.userCanceled, during: .read)
    }
    if query.key != nil { throw error(.locked, during: .read) }
    return []
  }
}
