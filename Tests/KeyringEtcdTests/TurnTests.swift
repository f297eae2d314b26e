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

/// Turns to change an item, among the tasks and machines of a fleet.
@Suite(.serialized, .timeLimit(.minutes(2))) struct TurnTests {
  private let cluster: Cluster
  private let transport: FaultyTransport
  /// The storage whose requests are counted, or fail.
  private let storage: EtcdStorage
  /// The storage of another machine.
  private let other: EtcdStorage
  private let key = ItemKey.password(service: "service", account: "account")
  private static let transaction = "/v3/kv/txn"
  private static let grant = "/v3/lease/grant"

  init() async throws {
    cluster = try Cluster.shared.get()
    other = try await cluster.newStorage()
    transport = FaultyTransport(try cluster.transport())
    storage = cluster.storage(like: other, transport)
    try await other.setPassword("first", for: key)
    // Reads the keys, and makes the lease of the records.
    try await storage.setPassword("first", for: .password(service: "service", account: "other"))
  }

  /// The keys in the cluster's queue for the item.
  private func queue() async throws -> [KeyValue] {
    let keys = try #require(other.fleet.keys.current)
    let reply = try await cluster.call(
      "/v3/kv/range", RangeRequest(prefix: keys.names.turns(key)))
    return try RangeReply(json: reply).values
  }

  private func turn(
    _ storage: EtcdStorage, timeout: Duration = .seconds(30)
  ) async throws -> any ItemTurn {
    try await storage.takeTurnWithoutBlocking(for: key, details: .secret, timeout: timeout)
  }

  private func item(_ text: String) -> SecureItem { SecureItem(key: key, secret: Secret(text)) }

  // MARK: - Requests

  @Test func `a turn costs two requests, and the first one a lease`() async throws {
    for number in 0..<3 {
      let (all, leases) = (transport.count, transport.count(of: Self.grant))
      let value = try await storage[key].update { _ in "value \(number)" }
      #expect(value == "value \(number)")
      #expect(transport.count(of: Self.grant) - leases == (number == 0 ? 1 : 0))
      #expect(transport.count - all == (number == 0 ? 3 : 2))
      // The process may end now.
      #expect(try await queue().isEmpty)
    }
    #expect(try await other.password(for: key) == "value 2")
  }

  @Test func `a turn that adds or removes an item costs as much`() async throws {
    try await storage[key].update { _ in "warm" }
    for value in [nil, "new"] {
      let count = transport.count
      try await storage[key].update { _ in value }
      #expect(transport.count - count == 2)
      #expect(try await other.password(for: key) == value)
    }
  }

  @Test func `a turn that changes nothing is gone when it has ended`() async throws {
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await storage[key].update { _ in
        #expect(try await queue().count == 1)
        throw Failure()
      }
    }
    #expect(try await queue().isEmpty)
    #expect(try await other.password(for: key) == "first")
  }

  // MARK: - Exclusion

  /// The state that the closures of several turns share.
  private final class Shared: Sendable {
    let order = Mutex<[Int]>([])
  }

  @Test func `machines get their turns in their order, without asking again and again`()
    async throws
  {
    let held = try await turn(other)
    let shared = Shared()
    var waiters: [(Task<Void, any Error>, FaultyTransport)] = []
    for number in 0..<3 {
      let (waiter, transport) = try cluster.faultyStorage(like: other)
      let task = Task {
        let turn = try await turn(waiter)
        shared.order.withLock { $0.append(number) }
        await turn.end()
      }
      #expect(await waitUntil { transport.openWatchCount == 1 })
      waiters.append((task, transport))
    }
    #expect(try await queue().count == 4)
    let counts = waiters.map(\.1.count)
    try await Task.sleep(for: .seconds(2))
    // A lease is kept alive every three seconds, and a watch is probed every five.
    for (count, (_, transport)) in zip(counts, waiters) { #expect(transport.count <= count + 1) }
    await held.end()
    for (task, _) in waiters { try await task.value }
    #expect(shared.order.withLock { $0 } == [0, 1, 2])
    #expect(try await queue().isEmpty)
  }

  @Test func `the tasks of a process have one key in the cluster`() async throws {
    let held = try await turn(other)
    let tasks = (0..<10).map { _ in Task { [storage, key] in try await storage[key].update { $0 } }
    }
    #expect(await waitUntil { transport.openWatchCount == 1 })
    #expect(try await queue().count == 2)
    await held.end()
    for task in tasks { #expect(try await task.value == "first") }
  }

  @Test func `who waits too long is told whose turn it is`() async throws {
    let held = try await turn(other)
    let error = await expect(.timedOut, within: .seconds(1)) {
      try await turn(storage, timeout: .seconds(1))
    }
    let name = "The program \(Executable.name), process \(getpid()) on "
    #expect(error?.message.hasPrefix(name) == true, "\(error as Any)")
    #expect(error?.operation == .takeTurn)
    // The names of programs aren't for the cluster's operator.
    #expect(
      try await queue().map { String(decoding: $0.value, as: UTF8.self).contains("process") } == [
        false
      ])
    let own = await expect(.timedOut) { try await turn(other, timeout: .milliseconds(10)) }
    #expect(own?.message.contains("Another call of this process") == true)
    // By default, half of the storage's timeout.
    let hasty = cluster.storage(like: other, timeout: .seconds(4))
    let start = ContinuousClock.now
    await expect(.timedOut, within: .seconds(2)) {
      try await hasty.takeTurnWithoutBlocking(for: key, details: .secret, timeout: nil)
    }
    #expect(ContinuousClock.now - start >= .seconds(2))
    await held.end()
  }

  @Test func `a waiter that is cancelled leaves the queue`() async throws {
    let held = try await turn(other)
    let task = Task { try await turn(storage) }
    #expect(await waitUntil { transport.openWatchCount == 1 })
    task.cancel()
    await expect(.canceled, within: .atOnce) { try await task.value }
    #expect(try await queue().count == 1)
    await held.end()
    await (try await turn(storage)).end()
  }

  // MARK: - Other writers

  @Test func `an item that is only encrypted again is replaced`() async throws {
    let calls = Atomic(0)
    try await storage[key].update { [other] _ in
      calls.add(1, ordering: .relaxed)
      try await other.rotateDataKey()
      return "new"
    }
    #expect(calls.load(ordering: .relaxed) == 1)
    #expect(try await other.password(for: key) == "new")
  }

  // MARK: - Lost turns

  @Test func `the store of a turn whose key is gone is refused`() async throws {
    let turn = try await turn(storage)
    let old = try await turn.item()
    try await cluster.remove(try #require(try await queue().first?.key))
    let error = await expect(.turnLost, within: .atOnce) {
      try await turn.save(item("late"), replacing: old)
    }
    #expect(error?.message.contains("lease") == true)
    await expect(.turnLost, within: .atOnce) { try await turn.item() }
    await turn.end()
    #expect(try await other.password(for: key) == "first")
  }

  @Test(.tags(.slow))
  func `a machine that is cut off loses its turn, and its closure is cancelled`()
    async throws
  {
    let start = ContinuousClock.now
    let error = await expectError(.turnLost, says: "The new value couldn't be stored") {
      try await storage[key].update { [transport] _ in
        transport.isCut.store(true, ordering: .relaxed)
        // The closure is cancelled before another one can begin.
        try? await Task.sleep(for: .seconds(60))
        #expect(Task.isCancelled)
        transport.isCut.store(false, ordering: .relaxed)
        return "late"
      }
    }
    #expect(error?.operation == .save)
    #expect(ContinuousClock.now - start < .seconds(12))
    // The lease may have a moment left in the cluster.
    try await expecting(within: .seconds(1)) {
      try await other[key].update { ($0 ?? "") + ", next" }
    }
    // A new lease serves the next turn.
    #expect(try await storage[key].update { ($0 ?? "") + ", last" } == "first, next, last")
  }

  @Test func `a turn whose lease the cluster has ended is lost within its third`() async throws {
    let turn = try await turn(storage)
    let isLost = Atomic(false)
    turn.whenLost { isLost.store(true, ordering: .relaxed) }
    try await cluster.revokeLeases()
    try await expecting(within: .seconds(4)) {
      try #require(await waitUntil { isLost.load(ordering: .relaxed) })
    }
    await turn.end()
    try await storage[key].update { _ in "next" }
  }

  // MARK: - Lost requests

  @Test func `a turn whose requests and replies are lost ends once`() async throws {
    transport.fail(.replyLost, .late {}, .replyLost)
    #expect(try await storage[key].update { ($0 ?? "") + "." } == "first.")
    #expect(try await other.password(for: key) == "first.")
    #expect(try await queue().isEmpty)
    transport.fail(.requestLost, .replyLost, .late {}, .requestLost, .replyLost)
    #expect(try await storage[key].update { ($0 ?? "") + "." } == "first..")
    #expect(try await other.password(for: key) == "first..")
    #expect(try await queue().isEmpty)
  }

  @Test func `a store that nobody reported is done once by the same turn`() async throws {
    let storage = cluster.storage(like: other, transport, timeout: .seconds(2))
    #expect(try await storage[key].update { ($0 ?? "") + "." } == "first.")
    // The store arrives, and all replies are lost until its time is over.
    transport.fail([.late {}] + Array(repeating: .replyLost, count: 200))
    let end = Task { [transport] in
      try await Task.sleep(for: .seconds(3))
      transport.fail()
    }
    #expect(try await storage[key].update { ($0 ?? "") + "." } == "first..")
    try await end.value
    #expect(try await other.password(for: key) == "first..")
  }

  @Test func `a request for a turn that arrives late blocks nobody`() async throws {
    transport.fail(.held)
    #expect(try await storage[key].update { _ in "new" } == "new")
    // The copy would have put its key into the queue again.
    let replies = await transport.release()
    #expect(replies.count == 1)
    try await expecting(within: .atOnce) { await (try await turn(other)).end() }
    #expect(try await queue().isEmpty)
  }

  // MARK: - Roles

  @Test func `a role without turns is told to grant them, and reads and stores as before`()
    async throws
  {
    let cluster = try await Cluster.sharedWithUsers.value
    let operators = try await cluster.newStorage()
    let user = EtcdUser(name: UUID().uuidString, password: Secret("the service's password"))
    try await cluster.add(user)
    let permissions = try await operators.permissions(for: key)
    let turns = try #require(permissions.last)
    #expect(turns.prefix.contains("/v1/turns/") && turns.isWritable)
    try await cluster.grant("old-\(user.name)", permissions.dropLast(), to: user)
    let storage = cluster.storage(operators.fleet.settings.namespace, user: user)
    let error = await expect(.accessDenied, within: .atOnce) {
      try await storage[key].update { _ in "never" }
    }
    #expect(
      error?.message
        == "The user \(user.name) may not take turns to change this item in the cluster.")
    #expect(error?.recoverySuggestion?.contains("Grant the permissions of the service") == true)
    #expect(try await storage[key].readOrStore { "generated" } == "generated")
    #expect(try await storage[key].readOrStore { "another" } == "generated")
    // Another service's items are another mistake.
    let foreign = await expect(.accessDenied, within: .atOnce) {
      try await storage[.password(service: "web", account: "account")].update { _ in "never" }
    }
    #expect(foreign?.message.contains("turns") == false)
    try await cluster.grant("new-\(user.name)", permissions, to: user)
    #expect(try await storage[key].update { _ in "new" } == "new")
  }

  @Test func `a role that is revoked during a turn leaves the turns of other services`()
    async throws
  {
    let cluster = try await Cluster.sharedWithUsers.value
    let operators = try await cluster.newStorage()
    let user = EtcdUser(name: UUID().uuidString, password: Secret("the service's password"))
    try await cluster.add(user)
    let foreign = ItemKey.password(service: "web", account: "account")
    for key in [key, foreign] {
      try await cluster.grant(
        "\(key.service ?? "")-\(user.name)", operators.permissions(for: key), to: user)
    }
    let storage = cluster.storage(operators.fleet.settings.namespace, user: user)
    let turn = try await storage.takeTurnWithoutBlocking(
      for: foreign, details: .secret, timeout: .seconds(30))
    try await cluster.revoke("web-\(user.name)", from: user)
    #expect(try await storage[key].update { _ in "new" } == "new")
    await turn.end()
    // The key of the turn stays until the end of its lease.
    try await expecting(within: .seconds(10.5)) {
      try await operators[foreign].update { _ in "theirs" }
    }
  }
}
#endif
