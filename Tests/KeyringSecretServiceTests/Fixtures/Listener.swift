// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring
import Testing

/// A socket that accepts connections and says nothing.
final class Listener: Sendable {
  let path: String
  private let descriptor: Int32

  init(at path: String = NSTemporaryDirectory() + UUID().uuidString) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let status = try Self.withAddress(path) { [descriptor] in bind(descriptor, $0, $1) }
    try #require(status == 0 && listen(descriptor, 16) == 0)
  }

  /// Returns a storage whose bus is the socket.
  func storage(serviceTimeout: Duration = .seconds(25)) -> SecretServiceStorage {
    SecretServiceStorage(
      options: .init(serviceTimeout: serviceTimeout, busAddress: "unix:path=\(path)"))
  }

  /// Returns `true` if a program accepts connections to a socket.
  static func accepts(_ path: String) throws -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { Glibc.close(descriptor) }
    return try withAddress(path) { connect(descriptor, $0, $1) } == 0
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout.size(ofValue: address))
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// Waits for a connection on a thread of its own.
  func waitForConnection() async throws {
    let accepted = await withCheckedContinuation { continuation in
      DispatchQueue(label: path).async { [descriptor] in
        continuation.resume(returning: accept(descriptor, nil, nil))
      }
    }
    try #require(accepted >= 0)
  }

  /// Closes each connection at once or after its first byte, as a bus does at its limit.
  func closeConnections(afterReading: Bool) {
    // The thread ends when the socket refuses connections.
    DispatchQueue(label: path).async { [descriptor] in
      while case let connection = accept(descriptor, nil, nil), connection >= 0 {
        var byte: UInt8 = 0
        if afterReading { _ = recv(connection, &byte, 1, 0) }
        Glibc.close(connection)
      }
    }
  }

  deinit {
    close()
    Glibc.close(descriptor)
    unlink(path)
  }

  /// Makes the socket refuse connections, and keeps its descriptor until the listener is gone.
  func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
#endif
