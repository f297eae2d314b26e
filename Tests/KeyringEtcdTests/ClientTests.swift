// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import KeyringCore
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringEtcd

/// A request that wasn't sent can't have been processed.
struct ClientTests {
  /// A cluster that answers no requests of a kind.
  private struct SilentTransport: EtcdTransport {
    let silentPath: String

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply {
      if path == silentPath {
        _ = await Waiter.wait(until: moment) { _ in }
        throw EtcdFailure(cause: .timedOut, hasDoubt: true)
      }
      return EtcdReply(body: Array(#"{"token":"a"}"#.utf8))
    }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  @Test(arguments: [
    EtcdTLS(authorities: "absent.pem"),
    EtcdTLS(authorities: "absent.pem", certificate: "absent.pem", privateKey: "absent.key"),
  ])
  func `files that aren't there are refused`(tls: EtcdTLS) async {
    let storage = EtcdStorage(
      endpoints: ["https://127.0.0.1:1"], namespace: "example", key: .keyFile(at: "key"), tls: tls)
    await expect(.invalidArgument) {
      _ = try await storage.password(for: .password(service: "service", account: "account"))
    }
  }

  @Test(arguments: [("/v3/auth/authenticate", false), ("/v3/kv/txn", true)])
  func `a failed authentication leaves no doubt`(silentPath: String, hasDoubt: Bool) async throws {
    let client = EtcdClient(
      SilentTransport(silentPath: silentPath),
      [try #require(EtcdEndpoint("https://127.0.0.1:1"))],
      user: EtcdUser(name: "me", password: Secret("pass")))
    let failure = await #expect(throws: EtcdFailure.self) {
      _ = try await client.transact(Transaction(), until: .now(plus: .milliseconds(100)))
    }
    #expect(failure?.hasDoubt == hasDoubt)
  }

  /// Something else than etcd, such as a proxy that reports its maintenance.
  private struct Stranger: EtcdTransport {
    let reply: String

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply { EtcdReply(body: Array(reply.utf8)) }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  @Test(arguments: ["{}", #"{"status":"maintenance"}"#, #"{"header":{}}"#])
  func `a reply without a revision is not the cluster's`(reply: String) async throws {
    let client = EtcdClient(
      Stranger(reply: reply), [try #require(EtcdEndpoint("https://127.0.0.1:1"))], user: nil)
    let failure = await #expect(throws: EtcdFailure.self) {
      _ = try await client.transact(Transaction(), until: .now(plus: .seconds(5)))
    }
    guard case .malformed? = failure?.cause else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(failure?.hasDoubt == true)
  }

  /// A cluster whose roles change with each of the first requests.
  private final class ChangingRoles: EtcdTransport {
    private let refusals: Mutex<Int>

    init(refusals: Int) { self.refusals = Mutex(refusals) }

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply {
      if path == "/v3/auth/authenticate" {
        return EtcdReply(body: Array(#"{"token":"a"}"#.utf8))
      }
      let isRefused = refusals.withLock { count in
        count -= 1
        return count >= 0
      }
      if isRefused {
        throw EtcdFailure(
          cause: .refused(GatewayError(code: 3, message: "revision of auth store is old")))
      }
      return EtcdReply(body: Array(#"{"header":{"revision":"1"}}"#.utf8))
    }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  @Test(arguments: [(3, true), (100, false)])
  func `roles may change several times during an operation`(
    refusals: Int, succeeds: Bool
  ) async throws {
    let client = EtcdClient(
      ChangingRoles(refusals: refusals), [try #require(EtcdEndpoint("https://127.0.0.1:1"))],
      user: EtcdUser(name: "me", password: Secret("pass")))
    do throws(EtcdFailure) {
      _ = try await client.transact(Transaction(), until: .now(plus: .seconds(20)))
      #expect(succeeds)
    } catch {
      #expect(!succeeds && error.refusal?.isAboutToken == true)
    }
  }

  /// A cluster whose roles have changed since it gave the first token.
  private final class OldToken: EtcdTransport {
    private let refusal: GatewayError
    private let tokenCount = Atomic(0)

    init(_ refusal: GatewayError) { self.refusal = refusal }

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply {
      if path == "/v3/auth/authenticate" {
        let number = tokenCount.add(1, ordering: .relaxed).newValue
        return EtcdReply(body: Array(#"{"token":"\#(number)"}"#.utf8))
      }
      if token == "1" {
        throw EtcdFailure(cause: .refused(refusal), hasDoubt: refusal.isTransient)
      }
      return EtcdReply(body: Array(#"{"header":{"revision":"1"}}"#.utf8))
    }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  /// Refuses the token as etcd 3.4.23 does, and also as etcd 3.5.1 does.
  @Test(arguments: [
    (3, "etcdserver: revision of auth store is old"), (2, "auth: revision in header is old"),
  ])
  func `a token that is older than the roles is replaced`(
    code: Int, message: String
  ) async throws {
    let client = EtcdClient(
      OldToken(GatewayError(code: code, message: message)),
      [try #require(EtcdEndpoint("https://127.0.0.1:1"))],
      user: EtcdUser(name: "me", password: Secret("pass")))
    let answer = try await client.transact(Transaction(), until: .now(plus: .seconds(5)))
    #expect(!answer.hasDoubt)
  }

  /// A cluster in which the node that is asked first answers nothing.
  private final class FrozenNode: EtcdTransport {
    private let frozen = Mutex<String?>(nil)
    let lostCount = Atomic(0)

    func send(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64
    ) async throws(EtcdFailure) -> EtcdReply {
      let isFrozen = frozen.withLock { frozen in
        frozen = frozen ?? endpoint.description
        return frozen == endpoint.description
      }
      guard isFrozen else {
        let body =
          path == "/v3/auth/authenticate" ? #"{"token":"a"}"# : #"{"header":{"revision":"1"}}"#
        return EtcdReply(body: Array(body.utf8))
      }
      lostCount.add(1, ordering: .relaxed)
      _ = await Waiter.wait(until: moment) { _ in }
      throw EtcdFailure(cause: .timedOut, hasDoubt: true)
    }

    func stream(
      _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?,
      until moment: Int64, _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
    ) async throws(EtcdFailure) {}
  }

  @Test func `operations that wait for one token don't try the node again`() async throws {
    let nodes = try (1...2).map { try #require(EtcdEndpoint("https://127.0.0.1:\($0)")) }
    let transport = FrozenNode()
    let client = EtcdClient(
      transport, nodes, user: EtcdUser(name: "me", password: Secret("pass")))
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          await #expect(throws: Never.self) {
            _ = try await client.transact(Transaction(), until: .now(plus: .seconds(20)))
          }
        }
      }
    }
    #expect(transport.lostCount.load(ordering: .relaxed) == 1)
  }
}
#endif
