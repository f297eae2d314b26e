// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A way to send requests to etcd.
protocol EtcdTransport: Sendable {
  /// Sends a request to a node, and returns the reply.
  ///
  /// - Parameters:
  ///   - path: The path of the call, for example "/v3/kv/txn".
  ///   - body: The request as JSON, or nothing to get what is at the path.
  ///   - endpoint: The node.
  ///   - token: The token of the user, or `nil` if there is none.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The reply.
  /// - Throws: `EtcdFailure` if there is no reply.
  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> EtcdReply

  /// Sends a request to a node, and passes on each line of the reply until the reply ends.
  ///
  /// - Parameters:
  ///   - path: The path of the call, for example "/v3/watch".
  ///   - body: The request as JSON.
  ///   - endpoint: The node.
  ///   - token: The token of the user, or `nil` if there is none.
  ///   - moment: The moment at which to give up if no line has arrived. A proxy may hold back lines.
  ///   - onLine: A closure that gets a line, and returns `false` to end the request.
  /// - Throws: `EtcdFailure` if the reply didn't end regularly.
  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
  ) async throws(EtcdFailure)
}

/// A reply of etcd.
struct EtcdReply: Sendable {
  /// The reply as JSON.
  let body: [UInt8]
  /// The time of the node's clock when it answered, as HTTP writes it, or `nil` if the node didn't say.
  var date: String?
}

/// The failure of a request to etcd.
struct EtcdFailure: Error, Sendable {
  let cause: Cause
  /// Indicates whether the request may have been processed, or may be later.
  var hasDoubt = false

  /// The answer of etcd, if it refused the request.
  var refusal: GatewayError? {
    if case .refused(let refusal) = cause { refusal } else { nil }
  }

  /// Returns whether an error of an encrypted connection is about the certificate of one of its ends.
  static func isAboutCertificate(_ text: String) -> Bool {
    ["CERTIFICATE", "UNKNOWN_CA", "failedToValidateHostname"].contains(where: text.contains)
  }

  /// A reason why a request has no reply.
  enum Cause: Sendable {
    /// No connection was made.
    case unreachable(String)
    /// The node or this program has a certificate that the other one refuses.
    case untrusted(String)
    /// The connection was lost.
    case lost(String)
    /// The time is over.
    case timedOut
    /// The task was cancelled.
    case canceled
    /// etcd refused the request.
    case refused(GatewayError)
    /// The reply isn't from etcd's gateway.
    case malformed(String)
    /// The addresses are those of several clusters: for each, a list of addresses.
    case divided([String])
  }
}

/// The address of a node of the cluster.
struct EtcdEndpoint: Sendable, CustomStringConvertible {
  let description: String
  let isEncrypted: Bool
  /// The name or the address of the host, without the brackets of IPv6.
  let host: String
  let port: Int

  /// Indicates whether the node is on this machine.
  var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
  }

  /// Reads an address such as "https://etcd-1.example.org:2379", or returns `nil` if it isn't one.
  init?(_ address: String) {
    guard let scheme = ["https://", "http://"].first(where: address.hasPrefix) else { return nil }
    let rest = address.dropFirst(scheme.count)
    let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
    // An address of IPv6 has colons inside brackets.
    guard let colon = authority.lastIndex(of: ":"),
      let port = UInt16(authority[authority.index(after: colon)...]), port > 0
    else { return nil }
    let host = authority[..<colon]
    guard !host.isEmpty, host.allSatisfy({ $0.isASCII && !"/@?# ".contains($0) }),
      !host.contains(":") || host.hasPrefix("[") && host.hasSuffix("]")
    else { return nil }
    description = scheme + authority
    isEncrypted = scheme == "https://"
    self.host = String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
    self.port = Int(port)
  }
}
#endif
