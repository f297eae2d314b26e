// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A connection that can't be made is an error that tells why.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ConnectionFaultTests {
  private let key = ItemKey.password(service: "service", account: "account")

  private func read(_ storage: EtcdStorage) async throws {
    _ = try await storage.password(for: key)
  }

  @Test func `nobody listens at the address`() async throws {
    let cluster = try Cluster.shared.get()
    let storage = EtcdStorage(
      endpoints: ["https://127.0.0.1:1"], namespace: "test", key: .keyFile(at: cluster.path("key")),
      tls: cluster.tls, timeout: .seconds(1))
    let error = await expect(.noProvider) { try await read(storage) }
    #expect(error?.message == "No node of the cluster can be reached.")
  }

  @Test func `a request counts as sent only if there was a connection`() async throws {
    let cluster = try Cluster(count: 1)
    let node = cluster.nodes[0]
    let endpoint = try #require(EtcdEndpoint(node.endpoint))
    let transport = try cluster.transport()
    func failure(within time: Duration) async -> EtcdFailure? {
      do throws(EtcdFailure) {
        let body = EtcdClient.encode(RangeRequest(EtcdKey("key")))
        _ = try await transport.send(
          "/v3/kv/range", body, to: endpoint, token: nil, until: .now(plus: time))
        return nil
      } catch {
        return error
      }
    }
    node.suspend()
    guard case .unreachable = await failure(within: .milliseconds(300)) else {
      Issue.record("the request was sent to a node that doesn't answer the handshake")
      return
    }
    node.suspend(false)
    #expect(await failure(within: .seconds(20)) == nil)
    node.suspend()
    guard case .timedOut = await failure(within: .seconds(2)) else {
      Issue.record("the request wasn't sent over the connection")
      return
    }
    node.suspend(false)
  }

  @Test func `a deadline ends the wait for the rest of a reply`() async throws {
    let (listener, port) = try listeningSocket()
    defer { close(listener) }
    let server = Thread {
      let client = accept(listener, nil, nil)
      let beginning = Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".utf8)
      _ = write(client, beginning, beginning.count)
      // The rest never comes. The client closes the connection.
      var byte: UInt8 = 0
      while recv(client, &byte, 1, 0) == 1 {}
      close(client)
    }
    server.start()
    let endpoint = try #require(EtcdEndpoint("http://127.0.0.1:\(port)"))
    let transport = HTTPTransport(nil)
    do throws(EtcdFailure) {
      _ = try await transport.send(
        "/v3/kv/range", Array("{}".utf8), to: endpoint, token: nil, until: .now(plus: .seconds(1)))
      Issue.record("the reply isn't complete")
    } catch {
      guard case .timedOut = error else { throw error }
    }
  }

  @Test func `one address of a node that is gone costs no more than a moment`() async throws {
    let cluster = try Cluster.shared.get()
    let other = try await cluster.newStorage()
    let storage = EtcdStorage(
      endpoints: ["https://127.0.0.1:1", cluster.nodes[0].endpoint],
      namespace: other.fleet.settings.namespace, key: .keyFile(at: cluster.path("key")),
      tls: cluster.tls, timeout: .seconds(5))
    for _ in 0..<10 { try await storage.setPassword("s3cret", for: key) }
  }

  @Test func `the cluster's certificate is of another authority`() async throws {
    let cluster = try Cluster.shared.get()
    let tls = EtcdTLS(
      authorities: cluster.path("stranger.pem"), certificate: cluster.path("client.pem"),
      privateKey: cluster.path("client.key"))
    let error = await expect(.accessDenied) { try await read(cluster.storage(tls: tls)) }
    #expect(error?.message.contains("certificate") == true)
  }

  @Test func `the cluster's certificate has expired`() async throws {
    let cluster = try Cluster(
      count: 1, options: ["--cert-file", "@expired.pem", "--key-file", "@expired.key"])
    let error = await expect(.accessDenied) { try await read(cluster.storage()) }
    #expect(error?.message.contains("certificate") == true)
  }

  @Test func `the cluster asks for a certificate`() async throws {
    let cluster = try Cluster.shared.get()
    let tls = EtcdTLS(authorities: cluster.path("authority.pem"))
    let error = await expect(.accessDenied) { try await read(cluster.storage(tls: tls)) }
    #expect(error?.message.contains("certificate") == true)
  }

  @Test func `a file of certificates is missing`() async throws {
    let cluster = try Cluster.shared.get()
    let tls = EtcdTLS(authorities: cluster.path("missing.pem"))
    let error = await expect(.invalidArgument) { try await read(cluster.storage(tls: tls)) }
    #expect(error?.argument == "tls")
  }

  @Test func `the gateway is off`() async throws {
    let cluster = try Cluster(count: 1, options: ["--enable-grpc-gateway=false"])
    let error = await expect(.noProvider) { try await read(cluster.storage()) }
    #expect(error?.recoverySuggestion?.contains("enable-grpc-gateway") == true)
  }

  @Test func `a request is larger than the cluster allows`() async throws {
    let cluster = try Cluster(count: 1, options: ["--max-request-bytes", "10000"])
    let storage = try await cluster.newStorage()
    let large = String(repeating: "x", count: 100_000)
    let error = await expect(.invalidArgument) {
      try await storage.setPassword(large, for: key)
    }
    #expect(error?.argument == "secret")
    #expect(try await storage.password(for: key) == nil)
  }

  @Test func `the database is full`() async throws {
    let cluster = try Cluster(count: 1, options: ["--quota-backend-bytes", "\(1 << 20)"])
    let storage = try await cluster.newStorage()
    try await storage.setPassword("kept", for: key)
    let large = String(repeating: "x", count: 500_000)
    let second = ItemKey.password(service: "service", account: "second")
    let error = await expect(.other) {
      for _ in 0..<100 { try await storage.setPassword(large, for: second) }
    }
    #expect(error?.message == "The cluster's database is full.")
    #expect(try await storage.password(for: key) == "kept")
    let report = try await storage.diagnose(writing: false)
    #expect("\(report)".contains("NOSPACE"))
  }
}
#endif
