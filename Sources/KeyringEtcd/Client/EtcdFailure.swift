// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The failure of a request to etcd.
struct EtcdFailure: Error, Sendable {
  let cause: Cause
  /// Whether the request may have been processed, or may be later.
  var hasDoubt = false

  /// The answer of etcd, if it refused the request.
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

extension EtcdFailure.Cause {
  /// Whether the node isn't set up correctly, or this program isn't.
  var isOfSetup: Bool {
    switch self {
    case .untrusted, .malformed: true
    default: false
    }
  }

  /// A number that is higher if the failure says more about the cluster.
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
