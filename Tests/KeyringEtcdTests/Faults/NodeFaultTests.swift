// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Nodes that fail cost time, and never a value or a change.
///
/// The storage is that of a service, whose user may use its own items only.
@Suite(.serialized, .timeLimit(.minutes(2))) struct NodeFaultTests {
  private let cluster: Cluster
  private let storage: EtcdStorage
  private let events = EventLog()
  private let subscription: StorageSubscription
  private let key = ItemKey.password(service: "service", account: "account")

  init() async throws {
    cluster = try Cluster(hasNetwork: true)
    try await cluster.enableUsers()
    storage = try await cluster.newStorage(forServiceOf: key)
    try await storage.setPassword("first", for: key)
    subscription = try await storage.observeWithoutBlocking(nil, events.append)
  }

  @Test(arguments: Cluster.Fault.allCases, [true, false])
  func `one node of three may fail`(fault: Cluster.Fault, isOfLeader: Bool) async throws {
    // Each node has a watch, so the one that fails has one.
    let logs = cluster.nodes.map { _ in EventLog() }
    var subscriptions: [StorageSubscription] = []
    for (node, log) in zip(cluster.nodes, logs) {
      subscriptions.append(try await cluster.observe(like: storage, at: node, log))
    }
    try await storage.setPassword("watched", for: key)
    for log in logs { log.wait(for: .changed(.replaced(key))) }
    let leader = try await cluster.leader()
    let index = try #require(cluster.nodes.firstIndex { ($0 === leader) == isOfLeader })
    let node = cluster.nodes[index]
    try fault.begin(node)
    // One node may have a second for its answer, and the election may take two more.
    try await expecting(within: .seconds(3)) {
      try await storage.save(SecureItem(key: key, secret: Secret("second")), mode: .update)
      #expect(try await storage.password(for: key) == "second")
    }
    await expecting(within: .seconds(10)) {
      // The watch notices after seven seconds that its node is lost.
      await expecting(within: .seconds(7)) { logs[index].wait(for: .interrupted) }
      for log in logs { log.wait(for: .changed(.replaced(key))) }
    }
    switch fault {
    case .killed:
      try await expectFinding("It can't be reached.", in: storage)
    case .frozen:
      try await expectFinding("It doesn't answer.", "It can't be reached.", in: storage)
    case .cutOff:
      // The node needs a moment to find out.
      while try await !"\(storage.diagnose(writing: false))".contains("no leader") {}
    }
    if fault == .cutOff, isOfLeader {
      // Without the others, the node finds out that it doesn't lead them any more.
      while try await cluster.isLeader(node) {}
    }

    // The node comes back, and nothing was lost.
    try fault.end(node)
    try await storage.setPassword("third", for: key)
    for log in logs { log.wait(for: .changed(.replaced(key))) }
    #expect(try await storage.password(for: key) == "third")
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `without most of the nodes there is an error, and then the value again`() async throws
  {
    let hasty = cluster.storage(like: storage, timeout: .seconds(4))
    #expect(try await hasty.password(for: key) == "first")
    // Without a lease, the next write wouldn't be sent.
    try await hasty.setPassword("first", for: key)
    cluster.nodes[0].kill()
    cluster.nodes[1].kill()
    let read = await expect(.connectionLost, within: .seconds(4)) {
      try await hasty.password(for: key)
    }
    #expect(read?.message.hasPrefix("The cluster has no leader") == true)
    let write = await expect(.connectionLost, within: .seconds(4)) {
      try await hasty.setPassword("second", for: key)
    }
    #expect(
      write?.message == "No node of the cluster reported whether the change was made.")
    try await expectFinding("no leader", in: hasty)
    events.wait(for: .interrupted)
    try Cluster.start(Array(cluster.nodes[0...1]))
    // The write may still be done: its error named the doubt.
    #expect(["first", "second"].contains(try await storage.password(for: key)))
    try await storage.setPassword("third", for: key)
    #expect(try await storage.password(for: key) == "third")
    events.wait(for: .resumed)
  }

  @Test func `while no node answers, there is an error in time`() async throws {
    let reader = cluster.storage(like: storage, timeout: .seconds(8))
    let writer = cluster.storage(like: storage, timeout: .seconds(4))
    #expect(try await reader.password(for: key) == "first")
    // Without a lease, the next write wouldn't be sent.
    try await writer.setPassword("second", for: key)
    for node in cluster.nodes { node.suspend() }
    await expecting(within: .seconds(7)) { events.wait(for: .interrupted) }
    let write = await expect(.connectionLost, within: .seconds(4)) {
      try await writer.setPassword("third", for: key)
    }
    #expect(write?.message == "No node of the cluster reported whether the change was made.")
    // After five seconds, the handshakes with the other nodes end.
    let read = await expect(.timedOut, within: .seconds(8)) { try await reader.password(for: key) }
    #expect(read?.message == "No node of the cluster answered in time.")
    for node in cluster.nodes { node.suspend(false) }
    events.wait(for: .resumed)
    let value = try await writer.password(for: key)
    #expect(["second", "third"].contains(value))
    #expect(try await reader.password(for: key) == value)
  }

  enum MissedChange: CaseIterable {
    case replacement, removal, removalBesideDamagedItem
  }

  @Test(arguments: MissedChange.allCases)
  func `a watch that was lost reads only what has changed`(change: MissedChange) async throws {
    if change == .removalBesideDamagedItem {
      let keys = try #require(storage.fleet.keys.current)
      let place = keys.names.item(.password(service: "service", account: "damaged"))
      try await cluster.put(place, [1, 2])
    }
    let isRemoval = change != .replacement
    let others = (0..<120).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in others { try await storage.setPassword("first", for: key) }
    let (follower, transport) = try cluster.faultyStorage(like: storage)
    let events = try await EventLog(of: follower)
    let wholeList = transport.bytes.load(ordering: .relaxed)
    for node in cluster.nodes { node.suspend() }
    events.wait(for: .interrupted)
    transport.isCut.store(true, ordering: .relaxed)
    for node in cluster.nodes { node.suspend(false) }
    if isRemoval { try await storage.remove(others[0]) }
    try await storage.setPassword("second", for: others[119])
    transport.isCut.store(false, ordering: .relaxed)
    events.wait(for: .resumed)
    #expect(events.changes.contains(.replaced(others[119])))
    #expect(events.changes.contains(.removed(others[0])) == isRemoval)
    // The change alone doesn't tell what was removed.
    let read = transport.bytes.load(ordering: .relaxed) - wholeList
    #expect((read < wholeList / 2) == !isRemoval, "\(read) bytes of \(wholeList)")
  }

  @Test func `a watch whose revision was compacted reports what has changed`() async throws {
    // The watch's node doesn't answer while the change is made and compacted.
    for node in cluster.nodes { node.suspend() }
    await expecting(within: .seconds(7)) { events.wait(for: .interrupted) }
    for node in cluster.nodes { node.suspend(false) }
    let other = cluster.storage(like: storage)
    let second = ItemKey.password(service: "service", account: "second")
    try await other.setPassword("new", for: second)
    try await other.remove(key)
    try await compact()
    events.wait(for: .resumed)
    #expect(await waitUntil { events.changes.contains(.removed(key)) })
    #expect(await waitUntil { events.changes.contains(.created(second)) })
  }

  @Test func `a watch that begins with a compacted removal reports it`() async throws {
    let (follower, transport) = try cluster.faultyStorage(like: storage)
    let hasRemoved = Atomic(false)
    transport.beforeWatch.withLock { closure in
      closure = {
        guard !hasRemoved.exchange(true, ordering: .relaxed) else { return }
        _ = try? await storage.remove(key)
        try? await compact()
      }
    }
    let events = try await EventLog(of: follower)
    #expect(await waitUntil { events.changes.contains(.removed(key)) })
  }

  @Test(arguments: [false, true])
  func `a read of many items starts again if the history is compacted`(isQuery: Bool) async throws {
    try await storage.remove(key)
    let keys = (0..<101).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword("first", for: key) }
    let (reader, transport) = try cluster.faultyStorage(like: storage)
    #expect(try await reader.password(for: keys[0]) == "first")
    let reads = transport.count(of: "/v3/kv/txn")
    var items: Task<[String?], any Error>?
    try await transport.holdingNextReply {
      items = Task {
        let items =
          try await isQuery
          ? reader.items(matching: .service("service", details: .secret))
          : Array(reader.items(for: keys, details: .secret).values)
        return items.map(\.secret?.text)
      }
      #expect(transport.waitForHeldReply())
      // The first part of the items is on its way. The others are asked for as they were then.
      for key in keys { try await storage.setPassword("second", for: key) }
      try await compact()
    }
    #expect(try await items?.value == keys.map { _ in "second" })
    #expect(transport.count(of: "/v3/kv/txn") == reads + 4)
  }

  /// Makes the cluster forget everything that is no longer the newest value.
  private func compact() async throws {
    let reply = try await cluster.call("/v3/kv/range", RangeRequest(EtcdKey("/")))
    let revision = try JSONDecoder().decode(Reply.self, from: Data(reply)).header.revision
    try await cluster.call("/v3/kv/compaction", ["revision": revision])
  }

  private struct Reply: Decodable {
    struct Header: Decodable { let revision: String }
    let header: Header
  }
}
#endif
