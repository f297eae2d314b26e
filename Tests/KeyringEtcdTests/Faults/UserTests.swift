// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A user of the cluster can do what the roles allow, and everything else is an error.
@Suite(.serialized, .timeLimit(.minutes(2))) struct UserTests {
  /// A cluster with users, which the tests share.
  private static let shared = Task<Cluster, any Error> {
    let cluster = try Cluster(options: ["--auth-token-ttl", "2"])
    try await cluster.enableUsers()
    return cluster
  }

  private let cluster: Cluster
  /// The storage of an operator.
  private let operators: EtcdStorage
  /// Each test has users and roles of its own.
  private let name = UUID().uuidString
  private let user: EtcdUser
  /// The roles for the items of two services.
  private var mail: String { "mail-\(name)" }
  private var web: String { "web-\(name)" }
  /// The storage of a service.
  private let storage: EtcdStorage
  private let key = ItemKey.password(service: "mail", account: "account")
  private let foreign = ItemKey.password(service: "web", account: "account")

  init() async throws {
    user = EtcdUser(name: name, password: Secret("mail's password"))
    cluster = try await Self.shared.value
    operators = try await cluster.newStorage()
    storage = cluster.storage(operators.fleet.settings.namespace, user: user)
    try await cluster.add(user)
    try await cluster.grant(mail, operators.permissions(for: key), to: user)
    try await operators.setPassword("first", for: key)
    try await operators.setPassword("theirs", for: foreign)
  }

  @Test func `a service has its own items only`() async throws {
    #expect(try await storage.password(for: key) == "first")
    try await storage.setPassword("second", for: key)
    #expect(try await operators.password(for: key) == "second")
    let error = await expect(.accessDenied, within: .atOnce) {
      try await storage.password(for: foreign)
    }
    #expect(error?.message == "The user \(name) may not do this in the cluster.")
    await expect(.accessDenied, within: .atOnce) {
      try await storage.setPassword("ours", for: foreign)
    }
    await expect(.accessDenied, within: .atOnce) {
      try await storage.items(matching: .service("web"))
    }
    #expect(try await operators.password(for: foreign) == "theirs")
    // A list without a service has what the user may read.
    #expect(try await storage.items(matching: ItemQuery()).map(\.key) == [key])
    #expect(try await operators.items(matching: ItemQuery()).count == 2)
    await expect(.accessDenied) { try await storage.rotateDataKey() }
  }

  @Test func `the diagnosis of a service's user succeeds`() async throws {
    // Since etcd 3.5.28, only an administrator may ask for the state.
    let transport = FaultyTransport(try cluster.transport())
    transport.alter(replies: { (reply) throws(EtcdFailure) in
      guard reply.contains("dbSizeInUse") else { return reply }
      throw EtcdFailure(cause: .refused(GatewayError(code: 7, message: "permission denied")))
    })
    let limited = try await cluster.storage(like: storage, transport).diagnose(writing: false)
    let nodes = limited.findings.filter { $0.subject.hasPrefix("node ") }
    #expect(nodes.count == 3 && nodes.allSatisfy { $0.text.hasPrefix("etcd 3.") })
    let diagnosis = try await storage.diagnose(writing: true)
    #expect(diagnosis.failure == nil)
    #expect(
      diagnosis.findings.allSatisfy {
        !$0.subject.hasPrefix("node ") || $0.text.hasPrefix("etcd 3.")
      })
    #expect("\(diagnosis)".contains("the user \(name) has no role for the item"))
    try await cluster.grant(web, operators.permissions(for: .probe()), to: user)
    #expect(try await "\(storage.diagnose(writing: true))".contains("an item was stored"))
  }

  @Test func `a service watches its own items only`() async throws {
    let events = try await EventLog(of: storage)
    try await operators.setPassword("ours", for: foreign)
    try await operators.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(events.changes == [.replaced(key)])
  }

  @Test func `a role that is revoked ends the watch`() async throws {
    let events = try await EventLog(of: storage)
    try await cluster.revoke(mail, from: user)
    await expecting(within: .seconds(7)) { events.wait(for: .interrupted) }
    await expect(.accessDenied, within: .atOnce) { try await storage.password(for: key) }
    await expect(.accessDenied, within: .atOnce) { try await storage.items(matching: ItemQuery()) }
    try await expectFinding("The user \(name) may not do this", in: storage)
    try await cluster.call("/v3/auth/user/grant", ["user": user.name, "role": mail])
    events.wait(for: .resumed)
    try await operators.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(try await storage.password(for: key) == "second")
  }

  enum UserChange: CaseIterable {
    case removal, newPassword
  }

  @Test(arguments: UserChange.allCases)
  func `a running program whose user is removed or changed is refused`(change: UserChange)
    async throws
  {
    let cached = storage.cached()
    #expect(try await cached.password(for: key) == "first")
    let events = try await EventLog(of: cached)
    switch change {
    case .removal: try await cluster.remove(user)
    case .newPassword: try await cluster.changePassword(of: user, to: Secret("another password"))
    }
    await expecting(within: .seconds(7)) {
      let error = await expect(.accessDenied, within: .atOnce) {
        try await storage.password(for: key)
      }
      #expect(error?.message == "The cluster refuses the password of the user.")
      events.wait(for: .interrupted)
    }
    await expect(.accessDenied, within: .atOnce) { try await cached.password(for: key) }
    await expect(.accessDenied, within: .atOnce) {
      try await storage.setPassword("lost", for: key)
    }
    try await expectFinding("refuses the password", in: storage)
    #expect(try await operators.password(for: key) == "first")
    // The program goes on when the user is as before.
    switch change {
    case .removal:
      try await cluster.add(user)
      try await cluster.call("/v3/auth/user/grant", ["user": user.name, "role": mail])
    case .newPassword: try await cluster.changePassword(of: user, to: user.password)
    }
    events.wait(for: .resumed)
    try await operators.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(try await cached.password(for: key) == "second")
  }

  @Test func `a user who loses one of several roles keeps the items of the others`() async throws {
    try await cluster.grant(web, operators.permissions(for: foreign), to: user)
    let events = try await EventLog(of: storage)
    // A write with a lease that both services use.
    try await storage.setPassword("ours", for: foreign)
    events.wait(for: .changed(.replaced(foreign)))
    try await cluster.revoke(web, from: user)
    try await storage.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    events.wait(for: .mayHaveChanged(nil))
    try await operators.setPassword("third", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(!events.changes.contains(.removed(foreign)))
  }

  @Test func `the items that a later role makes readable are watched`() async throws {
    let cached = storage.cached()
    let events = try await EventLog(of: cached)
    await expect(.accessDenied) { try await cached.password(for: foreign) }
    try await cluster.grant(web, operators.permissions(for: foreign), to: user)
    #expect(try await cached.password(for: foreign) == "theirs")
    events.wait(for: .changed(.created(foreign)))
    for value in ["second", "third"] {
      try await operators.setPassword(value, for: foreign)
      events.wait(for: .changed(.replaced(foreign)))
      #expect(try await cached.password(for: foreign) == value)
    }
  }

  @Test func `a watch whose token has expired isn't interrupted`() async throws {
    let (service, transport) = try cluster.faultyStorage(like: storage)
    let events = try await EventLog(of: service)
    // The next request is the one that shows every five seconds that the node answers.
    let tokens = transport.count(of: "/v3/auth/authenticate")
    #expect(await waitUntil { transport.count(of: "/v3/auth/authenticate") > tokens })
    try await operators.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(events.count == 1)
  }

  @Test func `a program without a token waits longer for a node that is frozen`() async throws {
    let leader = try await cluster.leader()
    // An administrator's requests go to the first node.
    let node = try #require(cluster.nodes.dropFirst().first { $0 !== leader })
    node.suspend()
    defer { node.suspend(false) }
    // Each program begins with any of the nodes.
    for _ in 0..<5 {
      let program = cluster.storage(operators.fleet.settings.namespace, user: user)
      let password = try await expecting(within: .seconds(3)) {
        try await program.password(for: key)
      }
      #expect(password == "first")
    }
  }

  @Test func `a program without a user is refused`() async throws {
    let settings = operators.fleet.settings
    let storage = EtcdStorage(
      endpoints: settings.endpoints, namespace: settings.namespace,
      key: .keyFile(at: cluster.path("key")), tls: cluster.tls)
    let error = await expect(.accessDenied, within: .atOnce) {
      try await storage.password(for: key)
    }
    #expect(error?.message == "A program without a user may not do this in the cluster.")
    #expect(error?.recoverySuggestion?.contains("argument \"user\"") == true)
    try await expectFinding("A program without a user may not do this", in: storage)
  }

  @Test func `a certificate with a name is refused by the gateway`() async throws {
    let storage = cluster.storage(
      operators.fleet.settings.namespace, tls: cluster.tls("authority", "named"), user: user)
    let error = await expect(.noProvider, within: .atOnce) { try await storage.password(for: key) }
    #expect(error?.recoverySuggestion == "Use a client certificate without a common name.")
    #expect(
      try await storage.diagnose(writing: false).findings.contains {
        $0.recoverySuggestion == "Use a client certificate without a common name."
      })
  }
}
#endif
