// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Synchronization
import Testing

@testable import KeyringEtcd

/// A transport whose watches go through a firewall, which can forget their connections.
///
/// Nothing passes through a connection that was forgotten, and neither side is told. All other requests reach
/// the nodes without the firewall.
final class ForgetfulFirewall: EtcdTransport {
  private let base: any EtcdTransport
  private let listener: (socket: Int32, port: UInt16)
  private let endpoint: EtcdEndpoint
  private let nodePort: UInt16
  private let connections = Mutex<[Connection]>([])

  init(_ base: any EtcdTransport, to node: Cluster.Node) throws {
    self.base = base
    nodePort = try #require(node.endpoint.split(separator: ":").last.flatMap { UInt16($0) })
    listener = try listeningSocket()
    endpoint = try #require(EtcdEndpoint("https://127.0.0.1:\(listener.port)"))
    Thread { [self] in
      while case let client = accept(listener.socket, nil, nil), client >= 0 {
        Thread { [self] in serve(client) }.start()
      }
      close(listener.socket)
    }.start()
  }

  /// Ends all connections.
  func end() {
    shutdown(listener.socket, Int32(SHUT_RDWR))
    connections.withLock { for connection in $0 { connection.end() } }
  }

  /// Forgets all connections, and lets later ones pass.
  ///
  /// - Returns: The number of connections.
  func forgetConnections() throws -> Int {
    try connections.withLock { connections in
      for connection in connections { try connection.forget() }
      return connections.count
    }
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(server) }
    guard (withLoopbackAddress(nodePort) { connect(server, $0, $1) }) == 0 else { return }
    let connection = Connection(client: client, server: server)
    connections.withLock { $0.append(connection) }
    relay(client, server) { !connection.isForgotten.load(ordering: .relaxed) }
    connections.withLock { $0.removeAll { $0 === connection } }
  }

  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> EtcdReply {
    try await base.send(path, body, to: endpoint, token: token, until: moment)
  }

  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
  ) async throws(EtcdFailure) {
    try await base.stream(path, body, to: self.endpoint, token: token, until: moment, onLine)
  }
}

/// A connection of a client to a node.
private final class Connection: Sendable {
  private let client: Int32
  private let server: Int32
  let isForgotten = Atomic(false)

  init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

  func end() {
    for socket in [client, server] { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  /// Makes the system drop each packet of the client, which then gets no acknowledgment either.
  func forget() throws {
    isForgotten.store(true, ordering: .relaxed)
    // The only instruction of the filter is to keep no byte of a packet (BPF_RET | BPF_K).
    var instruction: (code: UInt16, jumps: UInt16, constant: UInt32) = (0x06, 0, 0)
    let result = withUnsafeMutablePointer(to: &instruction) { pointer in
      var filter = Filter(length: 1, instructions: UnsafeMutableRawPointer(pointer))
      return setsockopt(
        client, SOL_SOCKET, Int32(SO_ATTACH_FILTER), &filter,
        socklen_t(MemoryLayout<Filter>.size))
    }
    try #require(result == 0)
  }

  /// The structure `sock_fprog` of `linux/filter.h`.
  private struct Filter {
    var length: UInt16
    var instructions: UnsafeMutableRawPointer
  }
}
#endif
