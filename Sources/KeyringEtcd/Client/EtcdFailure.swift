// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The failure of a request to etcd.
struct EtcdFailure: Error, Sendable {
  let cause: Cause
  /// `true` for a request that may have been processed, or may be later.
  var hasDoubt = false

  /// The answer of etcd to a request that it refused.
  var refusal: GatewayError? {
    if case .refused(let refusal) = cause { refusal } else { nil }
  }

  /// The texts of replies that the client looks for.
  static let knownTexts = [
    "etcdserver: ", "authentication failed", "not enabled", "user name is empty", "not found",
    "too many requests", "request is too large", "larger than max", "database space exceeded",
    "revision of auth store is old", "auth: revision in header is old", "CommonName",
    "HTTPS server",
  ]

  /// Returns `true` for an error of an encrypted connection about the certificate of one of its ends.
  static func isAboutCertificate(_ text: String) -> Bool {
    ["CERTIFICATE", "UNKNOWN_CA", "failedToValidateHostname"].contains(where: text.contains)
  }

  /// A reason for a missing reply.
  enum Cause: Sendable {
    /// The node was out of reach: the request got no connection.
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
    /// The reply is from something other than etcd's gateway.
    case malformed(String)
    /// The addresses are those of several clusters: for each, a list of addresses.
    case divided([String])
  }
}

extension EtcdFailure.Cause {
  /// `true` for a wrong setup of the node or this program.
  var isOfSetup: Bool {
    switch self {
    case .untrusted, .malformed: true
    default: false
    }
  }

  /// The name of the cause, without the texts of others.
  var name: String { String("\(self)".prefix { $0 != "(" }) }

  /// A number that is higher the more the failure says about the cluster.
  ///
  /// An answer says more than a lost connection. The last attempt has often too little time.
  var weight: Int {
    switch self {
    case .timedOut, .canceled: 0
    case .unreachable: 1
    case .lost, .untrusted: 2
    case .refused, .malformed, .divided: 3
    }
  }
}
#endif
