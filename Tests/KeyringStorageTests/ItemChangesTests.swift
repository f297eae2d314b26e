// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

/// The stream of changes of a storage that reports them at once.
@Suite(.timeLimit(.minutes(1))) struct ItemChangesTests {
  private let storage = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `a change wakes a waiting reader`() async throws {
    let changes = try await storage.changes(matching: .key(key))
    let reader = Task { await changes.first { _ in true } }
    await Task.yield()
    try await storage.setPassword("s3cret", for: key)
    #expect(await reader.value == .created(key))
  }

  @Test func `a stream has only the changes that its query matches`() async throws {
    let value = ItemKey.value(service: "service", account: "account")
    var ofService = try await storage.changes(matching: .service("service")).makeAsyncIterator()
    var ofKind = try await storage.changes(matching: ItemQuery(kind: .value)).makeAsyncIterator()
    try await storage.setPassword("s3cret", for: .password(service: "other", account: "account"))
    try await storage.setPassword("s3cret", for: key)
    try await storage[value, as: .value()].write(1)
    #expect(await ofService.next() == .created(key))
    #expect(await ofService.next() == .created(value))
    #expect(await ofKind.next() == .created(value))
  }

  @Test func `a query that a key cannot answer is refused`() async {
    let queries = [
      ItemQuery(label: "label"), ItemQuery(key: key, limit: 1),
      ItemQuery(created: .distantPast ... .distantFuture),
      ItemQuery(modified: .distantPast ... .distantFuture), ItemQuery(attributes: ["": ""]),
    ]
    for query in queries {
      let error = await expectError(.invalidArgument) {
        _ = try await storage.changes(matching: query)
      }
      #expect(error?.operation == .observe)
    }
  }

  @Test func `a slow reader gets one change for each item`() async throws {
    let other = ItemKey.password(service: "service", account: "other")
    let passing = ItemKey.password(service: "service", account: "passing")
    try await storage.setPassword("old", for: other)
    var iterator = try await storage.changes().makeAsyncIterator()
    for number in 0..<1000 {
      try await storage.setPassword("\(number)", for: key)
      try await storage.setPassword("passing", for: passing)
      try await storage.remove(passing)
    }
    try await storage.remove(other)
    try await storage.setPassword("new", for: other)
    #expect(await iterator.next() == .created(key))
    #expect(await iterator.next() == .removed(passing))
    #expect(await iterator.next() == .replaced(other))
    try await storage.remove(other)
    #expect(await iterator.next() == .removed(other))
    #expect(try await storage.password(for: key) == "999")
  }

  @Test func `a reader is notified of the removal of an item that it read too early`() async throws
  {
    var changes = try await storage.changes(matching: .key(key)).makeAsyncIterator()
    try await storage.setPassword("s3cret", for: key)
    #expect(try await storage.password(for: key) == "s3cret")
    try await storage.remove(key)
    #expect(await changes.next() == .removed(key))
    for value in ["another", nil, "last"] { try await storage.setPassword(value, for: key) }
    #expect(await changes.next() == .created(key))
  }

  @Test func `cancellation ends the stream`() async throws {
    let storage = ReportingStorage()
    let observers = storage.observers
    let changes = try await storage.changes()
    #expect(!observers.isEmpty)
    let reader = Task {
      var count = 0
      for await _ in changes { count += 1 }
      return count
    }
    observers.report(.changed(.created(key)))
    reader.cancel()
    #expect(await reader.value <= 1)
    #expect(observers.isEmpty)
    // The stream stays at its end.
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }

  @Test func `the observation ends with the last reference to the stream`() async throws {
    let storage = ReportingStorage()
    let observers = storage.observers
    var changes: ItemChanges? = try await storage.changes()
    var iterator = changes?.makeAsyncIterator()
    changes = nil
    #expect(!observers.isEmpty)
    observers.report(.changed(.created(key)))
    #expect(await iterator?.next() == .created(key))
    iterator = nil
    #expect(observers.isEmpty)
  }

  @Test func `an observation that is cancelled twice ends once`() {
    let count = Mutex(0)
    let observation = StorageSubscription { count.withLock { $0 += 1 } }
    observation.cancel()
    observation.cancel()
    #expect(count.withLock { $0 } == 1)
  }

  @Test func `a lock and the removal of a collection are reported`() throws {
    let events = Mutex<[StorageEvent]>([])
    let observation = storage.observe(nil) { event in events.withLock { $0.append(event) } }
    try storage.setPassword("s3cret", for: key)
    try storage.lock()
    let vault = try storage.createCollection(labeled: "vault")
    try vault.setPassword("s3cret", for: key)
    #expect(waitUntil { events.withLock(\.count) == 2 })
    #expect(events.withLock { $0 } == [.changed(.created(key)), .locked])
    let removed = Mutex<[StorageEvent]>([])
    let another = vault.observe(nil) { event in removed.withLock { $0.append(event) } }
    #expect(storage.deleteCollection(labeled: "vault"))
    #expect(waitUntil { !removed.withLock(\.isEmpty) })
    #expect(removed.withLock { $0 } == [.changed(.removed(key))])
    another.cancel()
    observation.cancel()
  }
}
