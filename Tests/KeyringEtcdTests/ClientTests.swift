// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import KeyringCore
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringEtcd

/// A request that wasn't sent can't have been processed.
struct ClientTests {
  /// A cluster that replies with what a closure returns.
  private struct ScriptedTransport: EtcdTransport {
    typealias Request = (path: String, endpoint: EtcdEndpoint, token: String?, moment: Int64)

    let reply: @Sendable (Request) async throws(EtcdFailure) -> String

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply {
      EtcdReply(body: Array(try await reply((path, endpoint, token, moment)).utf8))
    }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  private static let authentication = "/v3/auth/authenticate"
  private static let token = #"{"token":"a"}"#
  private static let success = #"{"header":{"revision":"1"}}"#

  /// Returns the client of a user of a scripted cluster.
  private func client(
    nodes: Int = 1,
    _ reply: @escaping @Sendable (ScriptedTransport.Request) async throws(EtcdFailure) -> String
  ) throws -> EtcdClient {
    EtcdClient(
      ScriptedTransport(reply: reply),
      try (1...nodes).map { try #require(EtcdEndpoint("https://127.0.0.1:\($0)")) },
      user: EtcdUser(name: "me", password: Secret("pass")))
  }

  /// Lets all time pass, as for a node that doesn't answer.
  private static func silence(until moment: Int64) async -> EtcdFailure {
    _ = await Waiter.wait(until: moment) { _ in }
    return EtcdFailure(cause: .timedOut, hasDoubt: true)
  }

  @Test(arguments: [("/v3/auth/authenticate", false), ("/v3/kv/txn", true)])
  func `a failed authentication leaves no doubt`(silentPath: String, hasDoubt: Bool) async throws {
    let client = try client { request throws(EtcdFailure) in
      if request.path == silentPath { throw await Self.silence(until: request.moment) }
      return Self.token
    }
    let failure = await #expect(throws: EtcdFailure.self) {
      _ = try await client.transact(Transaction(), until: .now(plus: .seconds(2)))
    }
    #expect(failure?.hasDoubt == hasDoubt)
  }

  /// Something else than etcd replies, such as a proxy that reports its maintenance.
  @Test(arguments: ["{}", #"{"status":"maintenance"}"#, #"{"header":{}}"#])
  func `a reply without a revision is not the cluster's`(reply: String) async throws {
    let client = try client { request in
      request.path == Self.authentication ? Self.token : reply
    }
    let failure = await #expect(throws: EtcdFailure.self) {
      _ = try await client.transact(Transaction(), until: .now(plus: .seconds(5)))
    }
    guard case .malformed? = failure?.cause else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(failure?.hasDoubt == true)
  }

  @Test(arguments: [(3, true), (100, false)])
  func `roles may change several times during an operation`(
    refusals: Int, succeeds: Bool
  ) async throws {
    let old = GatewayError(code: 3, message: "revision of auth store is old")
    let refusalCount = Atomic(0)
    let client = try client { request throws(EtcdFailure) in
      if request.path == Self.authentication { return Self.token }
      if refusalCount.add(1, ordering: .relaxed).newValue <= refusals {
        throw EtcdFailure(cause: .refused(old))
      }
      return Self.success
    }
    do throws(EtcdFailure) {
      _ = try await client.transact(Transaction(), until: .now(plus: .seconds(20)))
      #expect(succeeds)
    } catch {
      #expect(!succeeds && error.refusal?.isAboutToken == true)
    }
  }

  /// Refuses the token as etcd 3.4.23 does, and also as etcd 3.5.1 does.
  @Test(arguments: [
    (3, "etcdserver: revision of auth store is old"), (2, "auth: revision in header is old"),
  ])
  func `a token that is older than the roles is replaced`(
    code: Int, message: String
  ) async throws {
    let refusal = GatewayError(code: code, message: message)
    let tokenCount = Atomic(0)
    let client = try client { request throws(EtcdFailure) in
      if request.path == Self.authentication {
        return #"{"token":"\#(tokenCount.add(1, ordering: .relaxed).newValue)"}"#
      }
      if request.token == "1" {
        throw EtcdFailure(cause: .refused(refusal), hasDoubt: refusal.isTransient)
      }
      return Self.success
    }
    let answer = try await client.transact(Transaction(), until: .now(plus: .seconds(5)))
    #expect(!answer.hasDoubt)
  }

  /// The node that is asked first answers nothing.
  @Test func `operations that wait for one token don't try the node again`() async throws {
    let frozen = Mutex<String?>(nil)
    let lostCount = Atomic(0)
    let client = try client(nodes: 2) { request throws(EtcdFailure) in
      let isFrozen = frozen.withLock { frozen in
        frozen = frozen ?? request.endpoint.description
        return frozen == request.endpoint.description
      }
      if isFrozen {
        lostCount.add(1, ordering: .relaxed)
        throw await Self.silence(until: request.moment)
      }
      return request.path == Self.authentication ? Self.token : Self.success
    }
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          await #expect(throws: Never.self) {
            _ = try await client.transact(Transaction(), until: .now(plus: .seconds(20)))
          }
        }
      }
    }
    #expect(lostCount.load(ordering: .relaxed) == 1)
  }
}
#endif
