// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringRuntime
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Running programs go on when the cluster was restored from a backup.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RestoreTests {
  struct Setup: CustomTestStringConvertible {
    let nodeCount: Int
    let hasUsers: Bool
    let signsTokens: Bool
    let hasOtherIdentifier: Bool

    var testDescription: String {
      let tokens = hasUsers ? signsTokens ? "signed tokens" : "simple tokens" : "no users"
      return
        "\(nodeCount) nodes, \(tokens), \(hasOtherIdentifier ? "another" : "the same") identifier"
    }

    static var some: [Setup] {
      let all = [1, 3].flatMap { count in
        [(true, false), (true, true), (false, false)].flatMap { users, signed in
          [false, true].map {
            Setup(nodeCount: count, hasUsers: users, signsTokens: signed, hasOtherIdentifier: $0)
          }
        }
      }
      return Kills.count > 100
        ? all
        : all.filter {
          $0.hasUsers && $0.hasOtherIdentifier == ($0.nodeCount == 3)
            && !($0.signsTokens && $0.nodeCount == 1)
        }
    }
  }

  private let key = ItemKey.password(service: "mail", account: "account")

  @Test(arguments: Setup.some)
  func `running programs go on after a restore`(setup: Setup) async throws {
    let signing = "jwt,pub-key=@tokens.pub,priv-key=@tokens.key,sign-method=RS256,ttl=1h"
    let cluster = try Cluster(
      count: setup.nodeCount, options: setup.signsTokens ? ["--auth-token", signing] : [])
    if setup.hasUsers { try await cluster.enableUsers() }
    let writer =
      try await setup.hasUsers ? cluster.newStorage(forServiceOf: key) : cluster.newStorage()
    // A simple token has the index of its creation in the log, which is short after a restore.
    for number in 0..<100 { try await cluster.put(EtcdKey("/other"), [UInt8(number)]) }
    let others = (0..<20).map { ItemKey.password(service: "mail", account: "\($0)") }
    for key in [key] + others { try await writer.setPassword("first", for: key) }
    let reader = cluster.storage(like: writer)
    let cached = cluster.storage(like: writer).cached()
    let events = try await EventLog(of: cluster.storage(like: writer))
    let snapshot = try cluster.saveSnapshot("backup")
    let later = ItemKey.password(service: "mail", account: "later")
    for key in [key, later] { try await writer.setPassword("lost", for: key) }
    #expect(try await reader.password(for: key) == "lost")
    #expect(try await cached.password(for: later) == "lost")
    #expect(try await cached.password(for: key) == "lost")
    #expect(await waitUntil { events.changes.contains(.replaced(key)) })

    for node in cluster.nodes { node.kill() }
    // These programs ask for the item all the time.
    func until(_ isDone: @escaping @Sendable () async throws -> Bool) -> Task<Void, any Error> {
      Task {
        while try await !isDone() {
          try Task.checkCancellation()
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
    let programs = [
      until { [key] in (try? await reader.password(for: key)) == "first" },
      until { [key] in (try? await cached.password(for: key)) == "first" },
      until { (try? await writer.setPassword("second", for: others[0])) != nil },
    ]
    events.wait(for: .interrupted)
    for node in cluster.nodes {
      try node.restore(snapshot, token: setup.hasOtherIdentifier ? "restored" : nil)
    }
    try Cluster.start(cluster.nodes)
    let start = ContinuousClock.now
    try await expecting(within: .seconds(7)) {
      let alarm = Task {
        try await Task.sleep(for: .seconds(15))
        for program in programs { program.cancel() }
      }
      for program in programs { try await program.value }
      events.wait(for: .resumed)
      alarm.cancel()
    }
    print(
      "\(setup.testDescription): programs went on \(ContinuousClock.now - start) after the restore")
    #expect(events.changes.filter { $0 == .replaced(key) }.count == 2)
    #expect(events.changes.contains(.removed(later)))
    #expect(try await cached.password(for: later) == nil)
    // From now on, a change is noticed as before.
    try await writer.setPassword("third", for: key)
    #expect(await waitUntil { events.changes.filter { $0 == .replaced(key) }.count == 3 })
    #expect(try await cached.password(for: key) == "third")
    #expect(try await reader.password(for: others[0]) == "second")
  }

  @Test func `what a program knows of the lost history isn't taken for the new one`() async throws {
    let cluster = try Cluster(count: 1)
    let storage = try await cluster.newStorage()
    try await storage.setPassword("first", for: key)
    let snapshot = try cluster.saveSnapshot("backup")
    try await storage.save(
      SecureItem(key: key, secret: Secret("lost"), label: "lost"), mode: .addOrReplace)
    let lost = try #require(storage.fleet.items[key])
    cluster.nodes[0].kill()
    try cluster.nodes[0].restore(snapshot, token: "restored")
    try Cluster.start(cluster.nodes)
    let other = cluster.storage(like: storage)
    try await other.save(
      SecureItem(key: key, secret: Secret("second"), label: "second"), mode: .addOrReplace)
    try #require(other.fleet.items[key]?.revision == lost.revision)
    // A read shows that the history is another one.
    _ = try await storage.password(for: .password(service: "mail", account: "absent"))
    #expect(storage.fleet.items[key] == nil)
    try await storage.setPassword("third", for: key)
    #expect(try await other.item(for: key, details: .metadata)?.label == "second")
  }

  @Test func `addresses of two clusters are refused`() async throws {
    let cluster = try Cluster(count: 1)
    let storage = try await cluster.newStorage()
    try await storage.setPassword("old", for: key)
    let second = try Cluster(
      count: 1,
      options: [
        "--cert-file", cluster.path("node.pem"), "--key-file", cluster.path("node.key"),
        "--trusted-ca-file", cluster.path("authority.pem"),
      ])
    second.nodes[0].kill()
    let addresses = (cluster.nodes + second.nodes).map(\.endpoint)
    let namespace = storage.fleet.settings.namespace
    func program(_ transport: (any EtcdTransport)? = nil) -> EtcdStorage {
      cluster.storage(like: cluster.storage(namespace, endpoints: addresses), transport)
    }
    let transport = FaultyTransport(try cluster.transport())
    let running = program(transport)
    try await running.setPassword("old", for: key)
    try second.nodes[0].restore(cluster.saveSnapshot("backup"))
    try Cluster.start(second.nodes)
    try await storage.setPassword("new", for: key)
    // Each program begins with any of the nodes.
    for _ in 0..<8 {
      let error = await expect(.invalidArgument, within: .seconds(2)) {
        try await program().password(for: key)
      }
      #expect(error?.argument == "endpoints")
      for address in addresses { #expect(error?.recoverySuggestion?.contains(address) == true) }
      await expect(.invalidArgument) { try await program().setPassword("lost", for: key) }
    }
    await expect(.invalidArgument) { try await program().cached().password(for: key) }
    #expect(try await program().diagnose(writing: false).failure?.code == .invalidArgument)
    // A program that runs notices it when it asks the other node.
    transport.fail(.requestLost)
    let write = await expect(.connectionLost) { try await running.setPassword("lost", for: key) }
    #expect(write?.underlying?.text.contains(addresses[1]) == true)
    await expect(.invalidArgument) { try await running.password(for: key) }
    #expect(try await storage.password(for: key) == "new")
    // One of them alone is a cluster that was restored.
    cluster.nodes[0].kill()
    #expect(["old", "lost"].contains(try await running.password(for: key)))
  }
}
#endif
