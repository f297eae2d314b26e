#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A cache in front of a cluster.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CachedEtcdTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test(arguments: StorageContract.cases(for: EtcdStorage.self))
  func `each rule of the contract holds behind a cache`(rule: StorageContract) async throws {
    try rule.verify(try await Cluster.shared.get().newStorage().cached())
  }

  @Test func `a second read sends nothing, and sees the changes of other machines`() async throws {
    let cluster = try Cluster.shared.get()
    let other = try await cluster.newStorage()
    try await other.setPassword("first", for: key)
    let transport = FaultyTransport(try cluster.transport())
    let cached = cluster.storage(like: other, transport).cached()
    #expect(try await cached.password(for: key) == "first")
    let count = transport.count
    for _ in 0..<100 { #expect(try await cached.password(for: key) == "first") }
    // Only the question whether the node still answers may have been sent.
    #expect(transport.count <= count + 1)
    for value in ["second", "third", nil] {
      try await other.setPassword(value, for: key)
      #expect(try waitUntil { try cached.password(for: key) == value })
    }
  }

  @Test func `a cache that isn't connected isn't trusted`() async throws {
    let cluster = try Cluster(count: 1)
    let storage = try await cluster.newStorage()
    try await storage.setPassword("first", for: key)
    let hasty = cluster.storage(storage.fleet.settings.namespace, timeout: .seconds(1))
    let events = EventLog()
    let subscription = try await hasty.observeWithoutBlocking(nil, events.append)
    let cached = hasty.cached()
    #expect(try await cached.password(for: key) == "first")
    cluster.nodes[0].kill()
    events.wait(for: .interrupted)
    await expect(.noProvider) { _ = try await cached.password(for: key) }
    try Cluster.start(cluster.nodes)
    events.wait(for: .resumed)
    #expect(try await cached.password(for: key) == "first")
    subscription.cancel()
  }
}
#endif
