// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Synchronization
import Testing

/// The network between the nodes of a cluster, which can be cut.
///
/// Each node reaches the others through a proxy of its own, because the names of the others exist only there.
/// If a node is cut off, its messages and those for it wait until the network is whole again. Clients reach
/// the node all the time.
final class PeerNetwork: Sendable {
  private let listeners: [(socket: Int32, port: UInt16)]
  private let isolated = Mutex<Set<Int>>([])
  private let change = NSCondition()

  init(count: Int) throws {
    listeners = try (0..<count).map { _ in try listeningSocket() }
    for (index, listener) in listeners.enumerated() {
      Thread { [self] in
        while case let client = accept(listener.socket, nil, nil), client >= 0 {
          Thread { [self] in serve(client, of: index) }.start()
        }
        close(listener.socket)
      }.start()
    }
  }

  /// Ends the proxies.
  ///
  /// Their connections end with the nodes.
  func end() {
    for listener in listeners { shutdown(listener.socket, Int32(SHUT_RDWR)) }
  }

  /// The name by which the other nodes know a node.
  static func name(of node: Int) -> String { "node\(node).invalid" }

  /// The environment of a node, so that it uses its proxy.
  func environment(of node: Int) -> [String: String] {
    ["HTTPS_PROXY": "http://127.0.0.1:\(listeners[node].port)", "NO_PROXY": ""]
  }

  /// Cuts a node off from the others, or connects it again.
  func isolate(_ node: Int, _ isIsolated: Bool) {
    isolated.withLock { $0 = isIsolated ? $0.union([node]) : $0.subtracting([node]) }
    change.withLock { change.broadcast() }
  }

  private func waitForWay(between first: Int, and second: Int) {
    change.withLock {
      while !isolated.withLock({ $0.isDisjoint(with: [first, second]) }) { change.wait() }
    }
  }

  // MARK: - Connections

  /// Answers a node's request for a connection, which begins with "CONNECT node1.invalid:2380 HTTP/1.1".
  private func serve(_ client: Int32, of node: Int) {
    defer { close(client) }
    var request = ""
    var byte: UInt8 = 0
    while !request.hasSuffix("\r\n\r\n"), read(client, &byte, 1) == 1 {
      request.unicodeScalars.append(Unicode.Scalar(byte))
    }
    let words = request.split { " .:".contains($0) }
    guard words.count > 3, words[1].hasPrefix("node"), let peer = Int(words[1].dropFirst(4)),
      let port = UInt16(words[3])
    else { return }
    waitForWay(between: node, and: peer)
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(server) }
    guard (withLoopbackAddress(port) { connect(server, $0, $1) }) == 0,
      sendAll(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)[...], to: client)
    else { return }
    relay(client, server) { [self] in
      waitForWay(between: node, and: peer)
      return true
    }
  }
}

/// Sends the bytes of each of two sockets to the other one, until one of them ends.
///
/// - Parameters:
///   - client: One of the sockets.
///   - server: The other one.
///   - mayPass: A closure that is called for the bytes that have arrived. If it returns `false`, they're lost.
func relay(_ client: Int32, _ server: Int32, _ mayPass: @escaping @Sendable () -> Bool) {
  @Sendable func copy(from source: Int32, to target: Int32) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
      if !mayPass() { continue }
      guard sendAll(buffer[..<count], to: target) else { break }
    }
    for socket in [source, target] { shutdown(socket, Int32(SHUT_RDWR)) }
  }
  let isOver = DispatchSemaphore(value: 0)
  Thread {
    copy(from: server, to: client)
    isOver.signal()
  }.start()
  copy(from: client, to: server)
  isOver.wait()
}

private func sendAll(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
  var rest = bytes
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}

/// Returns a socket that listens on this machine.
func listeningSocket() throws -> (socket: Int32, port: UInt16) {
  let (socket, port) = try boundSocket()
  try #require(listen(socket, 16) == 0)
  return (socket, port)
}

/// The ports that this process hasn't used yet.
///
/// Each is used once, as the node that has it may not be running. The system gives higher ports to connections, and tests
/// in another process hardly ever have the same remainder.
private let ports = Mutex(
  (UInt16(10_000)..<32_768).filter { $0 % 8 == UInt16(getpid() % 8) }.shuffled())

/// Returns a socket with a port that nothing else listens on.
func boundSocket() throws -> (socket: Int32, port: UInt16) {
  let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  while let port = ports.withLock({ $0.popLast() }) {
    if withLoopbackAddress(port, { bind(socket, $0, $1) }) == 0 { return (socket, port) }
  }
  close(socket)
  throw POSIXError(.EADDRINUSE)
}

func withLoopbackAddress<Result>(
  _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  address.sin_port = port.bigEndian
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
#endif
