// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import KeyringEtcd

@Suite(.serialized) struct EtcdContractTests {
  // DurabilityTests restart a cluster of their own.
  static let rules = StorageContract.cases(for: EtcdStorage.self)
    .filter { $0.requirement != .restart }

  private let cluster: Cluster
  private let storage: EtcdStorage

  init() async throws {
    cluster = try Cluster.shared.get()
    storage = try await cluster.newStorage()
  }

  @Test(arguments: rules)
  func `the cluster keeps the contract`(rule: StorageContract) throws { try rule.verify(storage) }

  /// Swift takes them for equal.
  @Test func `services whose names have other bytes are different`() async throws {
    let keys = ["caf\u{E9}", "cafe\u{301}"].map {
      ItemKey.password(service: $0, account: "account")
    }
    for (key, text) in zip(keys, ["first", "second"]) {
      try await storage.setPassword(text, for: key)
    }
    let other = cluster.storage(storage.fleet.settings.namespace)
    // The second one comes first, so no earlier name can be taken for it.
    #expect(try await other.password(for: keys[1]) == "second")
    #expect(try await other.password(for: keys[0]) == "first")
    #expect(try await other.items(matching: ItemQuery()).count == 2)
  }

  @Test func `a hundred items are read in one transaction`() async throws {
    let keys = (0..<100).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword(key.account, for: key) }
    let (reader, transport) = try cluster.faultyStorage(like: storage)
    // The first read also reads the keys of the namespace.
    #expect(try await reader.password(for: keys[0]) == keys[0].account)
    let (requests, transactions) = (transport.count, transport.count(of: "/v3/kv/txn"))
    let items = try await reader.items(for: keys, details: .secret)
    #expect(keys.allSatisfy { items[$0]?.secret?.text == $0.account })
    #expect(transport.count == requests + 1)
    #expect(transport.count(of: "/v3/kv/txn") == transactions + 1)
  }

  @Test func `items that are large are read in small pages`() async throws {
    let secret = String(repeating: "s", count: 200_000)
    let keys = (0..<30).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword(secret, for: key) }
    let (reader, transport) = try cluster.faultyStorage(like: storage)
    #expect(try await reader.items(matching: .service("service")).count == keys.count)
    #expect(try await reader.rotateDataKey() == keys.count)
    // The first page has ten items, and base64 adds a third.
    let largest = transport.largestReply.load(ordering: .relaxed)
    #expect(largest < 3_000_000)
  }

  /// The loop would serve no other caller until the reply arrives.
  @Test func `a synchronous call on an event loop is an error`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let read = loop.submit {
      #expect(throws: SecureStorageError.self) { try storage.items(matching: ItemQuery()) }
    }
    let error = try await read.get()
    #expect(error?.code == .other && error?.recoverySuggestion == "Use await.")
    #expect(try await storage.items(matching: ItemQuery()).isEmpty)
  }
}
#endif
