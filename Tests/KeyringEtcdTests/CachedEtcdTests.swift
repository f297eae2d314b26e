// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A cache in front of a cluster.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CachedEtcdTests {
  private let cluster: Cluster
  /// The storage of another machine.
  private let other: EtcdStorage
  private let transport: FaultyTransport
  private let key = ItemKey.password(service: "service", account: "account")
  private let passing = ItemKey.password(service: "service", account: "passing")

  init() async throws {
    cluster = try Cluster.shared.get()
    other = try await cluster.newStorage()
    transport = FaultyTransport(try cluster.transport())
  }

  /// Keeps all later events from the watch.
  private func muteWatch() {
    transport.lastMessage.withLock { $0 = #"{"result":{"header":{"revision":"9000000000"}}}"# }
  }

  /// Makes the watch ask for another token with the next question whether the node still answers.
  private func renewWatch() {
    transport.alter(replies: { [unowned transport] (_) throws(EtcdFailure) in
      transport.alter()
      transport.lastMessage.withLock { $0 = nil }
      throw EtcdFailure(cause: .refused(GatewayError(code: 16, message: "a test")))
    })
  }

  @Test(arguments: EtcdContractTests.rules)
  func `each rule of the contract holds behind a cache`(rule: StorageContract) throws {
    try rule.verify(other.cached())
  }

  @Test func `a second read sends nothing, and sees the changes of other machines`() async throws {
    try await other.setPassword("first", for: key)
    let cached = cluster.storage(like: other, transport).cached()
    #expect(try await cached.password(for: key) == "first")
    let count = transport.count
    for _ in 0..<100 { #expect(try await cached.password(for: key) == "first") }
    // Only the question whether the node still answers may have been sent.
    #expect(transport.count <= count + 1)
    for value in ["second", "third", nil] {
      try await other.setPassword(value, for: key)
      #expect(try await waitUntil { try cached.password(for: key) == value })
    }
  }

  @Test func `a change brings the new item with it`() async throws {
    try await other.setPassword("first", for: key)
    let cached = cluster.storage(like: other, transport).cached()
    #expect(try await cached.password(for: key) == "first")
    let events = try await EventLog(of: cached)
    let reads = transport.count(of: "/v3/kv/txn")
    for value in ["second", "third"] {
      try await other.setPassword(value, for: key)
      events.wait(for: .changed(.replaced(key)))
      #expect(try await cached.password(for: key) == value)
    }
    #expect(transport.count(of: "/v3/kv/txn") == reads)
    // The item may have changed after the last report that has arrived.
    try await cached.setPassword("fourth", for: key)
    #expect(try await cached.password(for: key) == "fourth")
  }

  @Test func `a cache that is emptied or has a lifetime asks the cluster`() async throws {
    try await other.setPassword("first", for: key)
    for (lifetime, value) in [(nil as Duration?, "second"), (.seconds(600), "third")] {
      let (storage, transport) = try cluster.faultyStorage(like: other)
      let cached = storage.cached(for: lifetime)
      _ = try await cached.password(for: key)
      let events = try await EventLog(of: cached)
      try await other.setPassword(value, for: key)
      events.wait(for: .changed(.replaced(key)))
      cached.removeAll()
      let reads = transport.count(of: "/v3/kv/txn")
      #expect(try await cached.password(for: key) == value)
      #expect(transport.count(of: "/v3/kv/txn") == reads + 1)
      // A cached item is younger than the lifetime. A reported one may not be.
      try await other.setPassword(value + " again", for: key)
      events.wait(for: .changed(.replaced(key)))
      #expect(try await cached.password(for: key) == value + " again")
      #expect(
        transport.count(of: "/v3/kv/txn") == reads + (lifetime == nil ? 1 : 2))
    }
  }

  @Test func `a report that is older than a read is not used`() async throws {
    try await other.setPassword("first", for: key)
    let events = try await EventLog(of: other)
    // From now on, reported items are kept.
    #expect(other.reportedItem(for: key, details: .secret) == nil)
    try await other.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(other.reportedItem(for: key, details: .secret)?.secret == Secret("second"))
    try await other.setPassword("other", for: .password(service: "service", account: "other"))
    #expect(other.reportedItem(for: key, details: .secret) == nil)
  }

  @Test func `of two reports, the later one counts`() {
    var reported = ReportedItems()
    func put(_ revision: Int64, size: Int = 1) {
      reported.put(
        KeyValue(key: place, value: Array(repeating: 0, count: size), revision: revision))
    }
    let place = EtcdKey("place")
    // Nobody reads reported items yet.
    put(3)
    #expect(reported.value(at: place) == nil)
    put(5)
    // Another watch is late.
    put(4)
    #expect(reported.value(at: place)?.revision == 5)
    reported.see(5)
    #expect(reported.value(at: place)?.revision == 5)
    reported.see(6)
    #expect(reported.value(at: place) == nil)
    // A value that isn't kept makes the earlier one obsolete.
    put(7)
    put(8, size: 1 << 20)
    #expect(reported.value(at: place) == nil)
    put(7)
    #expect(reported.value(at: place) == nil)
    put(9)
    reported.forget()
    put(8)
    #expect(reported.value(at: place) == nil)
  }

  @Test func `a watch that is renewed says so if the cluster can't be reached`() async throws {
    let storage = cluster.storage(like: other, transport, timeout: .seconds(60))
    let events = try await EventLog(of: storage)
    // The next question whether the node still answers makes the watch ask for another token.
    transport.alter(replies: { [unowned transport] (_) throws(EtcdFailure) in
      transport.isCut.store(true, ordering: .relaxed)
      throw EtcdFailure(cause: .refused(GatewayError(code: 16, message: "a test")))
    })
    events.wait(for: .interrupted)
    transport.alter()
    transport.isCut.store(false, ordering: .relaxed)
    events.wait(for: .resumed)
  }

  /// Creates and removes an item while the events of the old watch are missing.
  @Test func `a cache keeps nothing that was removed while a watch is renewed`() async throws {
    let cached = cluster.storage(like: other, transport).cached()
    #expect(try await cached.password(for: key) == nil)
    muteWatch()
    try await other.setPassword("passing", for: passing)
    #expect(try await cached.password(for: passing) == "passing")
    try await other.remove(passing)
    renewWatch()
    try await other.setPassword("last", for: key)
    #expect(try await waitUntil { try cached.password(for: key) == "last" })
    #expect(try await waitUntil { try cached.password(for: passing) == nil })
  }

  /// The read is answered before the removal, and its answer arrives after the watch was renewed.
  @Test func `a cache keeps no late answer about an item that was removed`() async throws {
    let cached = cluster.storage(like: other, transport).cached()
    #expect(try await cached.password(for: key) == nil)
    let events = try await EventLog(of: cached)
    muteWatch()
    try await other.setPassword("passing", for: passing)
    var late: Task<String?, any Error>?
    try await transport.holdingNextReply {
      late = Task { try await cached.password(for: passing) }
      #expect(transport.waitForHeldReply())
      try await other.remove(passing)
      renewWatch()
      events.wait(for: .mayHaveChanged(passing))
    }
    #expect(try await late?.value == "passing")
    #expect(try await cached.password(for: passing) == nil)
  }

  @Test func `a watch that the node ends reads the items again`() async throws {
    let storage = cluster.storage(like: other, transport)
    let events = try await EventLog(of: storage)
    transport.lastMessage.withLock {
      $0 =
        #"{"result":{"header":{"revision":"9000000000"},"canceled":true,"compact_revision":"9"}}"#
    }
    try await other.setPassword("first", for: key)
    events.wait(for: .interrupted)
    transport.lastMessage.withLock { $0 = nil }
    events.wait(for: .resumed)
    #expect(events.changes == [.created(key)])
  }

  @Test func `a watch without observers keeps no items`() async throws {
    try await other.setPassword("first", for: key)
    let subscription = try await other.observeWithoutBlocking(nil) { _ in }
    let items = try #require(Namespace(other.fleet.settings.namespace)).items
    let watch = other.fleet.watches.watch(EtcdRange(prefix: items))
    #expect(!watch.isEmpty)
    subscription.cancel()
    #expect(await waitUntil { watch.isEmpty })
  }

  @Test func `a service with two watches never goes back to an earlier item`() async throws {
    try await other.setPassword("0", for: key)
    let storage = cluster.storage(like: other, transport)
    // This watches a service, and the cache watches everything.
    let changes = try await storage.changes(matching: .key(key))
    let cached = storage.cached()
    let writer = Task { [key] in
      for number in 1...200 { try await other.setPassword("\(number)", for: key) }
    }
    var last = 0
    while last < 200 {
      let found = try #require(Int(try await cached.password(for: key) ?? ""))
      try #require(found >= last)
      last = found
    }
    try await writer.value
    #expect(transport.watchCount == 2)
    withExtendedLifetime(changes) {}
  }

  @Test func `a property's changes share the watch of the cache`() async throws {
    let cached = cluster.storage(like: other, transport).cached()
    var changes = try await cached.changes(matching: .key(key)).makeAsyncIterator()
    _ = try await cached.password(for: key)
    try await other.setPassword("new", for: key)
    #expect(await changes.next() == .created(key))
    #expect(try await cached.password(for: key) == "new")
    #expect(transport.watchCount == 1)
  }

  @Test func `a watch ends with its last observer, and the next one begins another`() async throws {
    let storage = cluster.storage(like: other, transport)
    let events = EventLog()
    let first = try await storage.observeWithoutBlocking(nil, events.append)
    let second = try await storage.observeWithoutBlocking(nil) { _ in }
    second.cancel()
    try await other.setPassword("first", for: key)
    events.wait(for: .changed(.created(key)))
    first.cancel()
    #expect(await waitUntil { transport.openWatchCount == 0 })
    try await other.setPassword("second", for: key)
    let laterEvents = EventLog()
    let third = try await storage.observeWithoutBlocking(nil, laterEvents.append)
    try await other.setPassword("third", for: key)
    laterEvents.wait(for: .changed(.replaced(key)))
    #expect(laterEvents.changes == [.replaced(key)])
    #expect(events.changes == [.created(key)])
    third.cancel()
  }

  @Test func `observers that come and go miss nothing`() async throws {
    try await withThrowingTaskGroup { group in
      for observer in 0..<4 {
        group.addTask {
          for round in 0..<25 {
            let key = ItemKey.password(service: "\(observer)", account: "\(round)")
            let events = try await EventLog(of: other)
            try await other.setPassword("new", for: key)
            events.wait(for: .changed(.created(key)))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a cache that isn't connected isn't trusted`() async throws {
    let cluster = try Cluster(count: 1)
    let storage = try await cluster.newStorage()
    try await storage.setPassword("first", for: key)
    let cached = cluster.storage(storage.fleet.settings.namespace, timeout: .seconds(3)).cached()
    #expect(try await cached.password(for: key) == "first")
    // An observer of the cache is called when the cache is empty.
    let events = try await EventLog(of: cached)
    cluster.nodes[0].kill()
    events.wait(for: .interrupted)
    await expect(.noProvider) { try await cached.password(for: key) }
    try Cluster.start(cluster.nodes)
    events.wait(for: .resumed)
    #expect(try await cached.password(for: key) == "first")
  }
}
#endif
