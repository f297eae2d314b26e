// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A signed token (JWT) ends at its time although it's used, and with each change of the roles.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SignedTokenTests {
  enum TokenEnd: CaseIterable {
    case expiry, newRole

    /// The time after which the nodes refuse a token, or up to a second earlier.
    var tokenTime: String { self == .expiry ? "3s" : "1h" }
  }

  private let key = ItemKey.password(service: "mail", account: "account")

  @Test(arguments: TokenEnd.allCases)
  func `a storage whose token has ended goes on with a new one`(end: TokenEnd) async throws {
    let (cluster, other) = try await newCluster(end)
    let (storage, transport) = try cluster.faultyStorage(like: other)
    // Also reads the keys, and makes the lease.
    try await storage.setPassword("first", for: key)
    try await endTokens(end, of: storage, in: cluster)
    let tokens = transport.count(of: "/v3/auth/authenticate")
    #expect(try await storage.password(for: key) == "first")
    let tokensAfterRead = transport.count(of: "/v3/auth/authenticate")
    #expect(tokensAfterRead > tokens)

    try await endTokens(end, of: storage, in: cluster)
    let (writes, transactions) = (transport.writeCount, transport.count(of: "/v3/kv/txn"))
    let new = ItemKey.password(service: "mail", account: "new")
    try await storage.save(SecureItem(key: new, secret: Secret("new")), mode: .add)
    #expect(transport.count(of: "/v3/auth/authenticate") > tokensAfterRead)
    // The first copy of the write was refused.
    #expect(transport.count(of: "/v3/kv/txn") > transactions + 1)
    #expect(transport.writeCount == writes + 1)
    #expect(try await other.password(for: new) == "new")
    let place = try #require(storage.fleet.keys.current).names.item(new)
    #expect(try await version(of: place, in: cluster) == 1)
  }

  @Test(arguments: TokenEnd.allCases)
  func `a watch whose token has ended isn't interrupted`(end: TokenEnd) async throws {
    let (cluster, other) = try await newCluster(end)
    try await other.setPassword("first", for: key)
    let (storage, transport) = try cluster.faultyStorage(like: other)
    let events = try await EventLog(of: storage)
    // After this event, the cluster has accepted the token for the watch.
    try await other.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    let tokens = transport.count(of: "/v3/auth/authenticate")
    try await endTokens(end, of: storage, in: cluster)
    // The next request is the one that shows every five seconds that the node answers.
    #expect(await waitUntil { transport.count(of: "/v3/auth/authenticate") > tokens })
    // The first change may come before the next watch begins.
    for value in ["third", "fourth"] {
      try await other.setPassword(value, for: key)
      events.wait(for: .changed(.replaced(key)))
    }
    #expect(events.count == 3)
  }

  /// Starts a cluster whose nodes sign the tokens, and returns it with the storage of a service.
  private func newCluster(_ end: TokenEnd) async throws -> (Cluster, EtcdStorage) {
    let cluster = try Cluster(options: [
      "--auth-token",
      "jwt,pub-key=@tokens.pub,priv-key=@tokens.key,sign-method=RS256,ttl=\(end.tokenTime)",
    ])
    try await cluster.enableUsers()
    return (cluster, try await cluster.newStorage(forServiceOf: key))
  }

  /// Ends the tokens that the user of a storage has by now, and waits until they're refused.
  private func endTokens(
    _ end: TokenEnd, of storage: EtcdStorage, in cluster: Cluster
  ) async throws {
    // It doesn't end before those that are older.
    let token = try await cluster.newToken(try #require(storage.fleet.settings.user))
    if end == .newRole {
      try await cluster.call("/v3/auth/role/add", ["name": UUID().uuidString])
    }
    let place = try #require(storage.fleet.keys.current).names.item(key)
    do {
      // Use doesn't prolong it.
      while true { try await cluster.call("/v3/kv/range", RangeRequest(place), token: token) }
    } catch let failure as EtcdFailure where failure.refusal?.isAboutToken == true {
      // Any other refusal is an error of the test.
    }
  }

  /// Returns the number of times that a value was written since it was created.
  private func version(of place: EtcdKey, in cluster: Cluster) async throws -> Int64? {
    struct Reply: Decodable {
      struct Value: Decodable { let version: String }
      let kvs: [Value]?
    }
    let reply = try await cluster.call("/v3/kv/range", RangeRequest(place))
    return try JSONDecoder().decode(Reply.self, from: Data(reply)).kvs?.first.flatMap {
      Int64($0.version)
    }
  }
}
#endif
