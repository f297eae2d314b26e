// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
public import KeyringStorage

extension FleetSettings {
  /// The name of the storage, as errors have it.
  static let backendName = "EtcdStorage"

  /// Returns an error of the storage; the caller sets its operation.
  func error(
    _ code: SecureStorageError.Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backendName: Self.backendName, message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }

  /// Returns the error for a thread or a file descriptor that is missing.
  func error(_ shortage: Shortage) -> SecureStorageError {
    error(
      .other, shortage.message, recoverySuggestion: shortage.recoverySuggestion,
      underlying: shortage.underlying)
  }

  /// Returns the error for a request that has no reply.
  func error(for cause: EtcdFailure.Cause) -> SecureStorageError {
    let nodes = endpoints.joined(separator: ", ")
    func underlying(_ text: String, _ code: Int = 0) -> SecureStorageError.Underlying {
      SecureStorageError.Underlying(domain: "etcd", code: code, text: text)
    }
    switch cause {
    case .canceled: return error(.canceled)
    case .timedOut:
      return error(
        .timedOut, "No node of the cluster answered in time.",
        recoverySuggestion: "Check that most of the nodes run: \(nodes).")
    case .unreachable(let text):
      return error(
        .noProvider, "No node of the cluster can be reached.",
        recoverySuggestion: "Check the addresses and the certificates: \(nodes)." + closing(text),
        underlying: underlying(text))
    case .untrusted(let text):
      return error(
        .accessDenied, "The certificate of the cluster or of this program isn't trusted.",
        recoverySuggestion:
          """
          Check the files in the argument "tls", whether a certificate has expired or was revoked, and the clocks of \
          this machine and of the nodes.
          """,
        underlying: underlying(text))
    case .lost(let text):
      return error(
        .connectionLost, "The connection to the cluster was lost.",
        recoverySuggestion: "Check that most of the nodes run: \(nodes)." + closing(text),
        underlying: underlying(text))
    case .malformed(let text):
      let (message, suggestion) = misfit(text)
      return error(
        .noProvider, message, recoverySuggestion: suggestion, underlying: underlying(text))
    case .divided(let parts):
      return error(
        .invalidArgument, "The addresses are those of different clusters.",
        recoverySuggestion:
          "Leave out those of all clusters but one: \(parts.joined(separator: "; or ")).",
        argument: "endpoints", underlying: underlying(parts.joined(separator: "; ")))
    case .refused(let refusal):
      return error(refusal, underlying(refusal.message, refusal.code))
    }
  }

  /// Returns what else to check after a node has closed a connection for an unknown reason.
  func closing(_ text: String) -> String {
    let signs = [
      "eofDuringHandshake", "remoteConnectionClosed", "errno: 104", "errno: 32", "uncleanShutdown",
    ]
    guard signs.contains(where: text.contains) else { return "" }
    if endpoints.contains(where: { $0.hasPrefix("http://") }) {
      return
        " A node that encrypts closes a connection to an address that begins with http://: use https://."
    }
    return """
       A node also closes a connection if it has revoked the certificate of this program, or if the address has \
      its port for other nodes (2380) instead of that for clients (2379).
      """
  }

  /// Returns the message and the advice for a node that doesn't answer as etcd's gateway does.
  private func misfit(_ text: String) -> (String, String) {
    let reply = "The reply isn't from etcd's JSON gateway."
    if text.contains("CommonName") {
      return (reply, "Use a client certificate without a common name.")
    }
    if text.contains("HTTPS server") { return (reply, "Use addresses that begin with https://.") }
    if text.contains("WRONG_VERSION_NUMBER") {
      return (
        "The nodes don't encrypt their connections.",
        "Start them with --cert-file and --key-file. On this machine, addresses may begin with http://."
      )
    }
    if text.contains("SSL") {
      return (
        "No encrypted connection to the cluster can be made.",
        "Check that the nodes use TLS 1.2 or later, and that the addresses are those of nodes."
      )
    }
    return (
      reply,
      "Check the addresses, whose port is that for clients (2379), and set enable-grpc-gateway in etcd's configuration."
    )
  }

  func databaseIsFull(_ underlying: SecureStorageError.Underlying? = nil) -> SecureStorageError {
    error(
      .other, "The cluster's database is full.",
      recoverySuggestion: "Compact and defragment the database, and disarm the alarm NOSPACE.",
      underlying: underlying)
  }

  /// The subject of a sentence about the program.
  var program: String { user.map { "The user \($0.name)" } ?? "A program without a user" }

  fileprivate static let refusedPassword = "authentication failed"

  private func error(
    _ refusal: GatewayError, _ underlying: SecureStorageError.Underlying
  ) -> SecureStorageError {
    switch refusal.code {
    case 3 where refusal.message.contains(Self.refusedPassword):
      return error(
        .accessDenied, "The cluster refuses the password of the user.",
        recoverySuggestion: user?.password.text?.last?.isNewline == true
          ? "The password ends with a line feed. Leave it out, unless it belongs to the password."
          : "Check the name and the password of the user.", underlying: underlying)
    case _ where refusal.isTooLarge:
      return error(
        .invalidArgument, "The item is too large for the cluster.",
        recoverySuggestion: "Store a smaller secret.", argument: "secret", underlying: underlying)
    case _ where refusal.isDenial:
      return error(
        .accessDenied, "\(program) may not do this in the cluster.",
        recoverySuggestion: user == nil
          ? "Name a user in the argument \"user\". With keyring-tool, set ETCDCTL_USER."
          : "Grant the user a role for the namespace \(namespace).",
        underlying: underlying)
    case _ where refusal.isAboutToken:
      return error(
        .accessDenied, "The users and roles of the cluster changed during the operation.",
        recoverySuggestion: "Repeat it.", underlying: underlying)
    case 9 where refusal.message.contains("not enabled"):
      return error(
        .invalidArgument, "The cluster has no users, but the storage names one.",
        recoverySuggestion: "Leave out the user, or turn on authentication in the cluster.",
        argument: "user", underlying: underlying)
    case _ where refusal.isDatabaseFull:
      return databaseIsFull(underlying)
    // The gateway hasn't got this from the server.
    case 14 where !refusal.message.hasPrefix("etcdserver: "):
      return error(
        .connectionLost, "The gateway of the node can't reach the node itself.",
        recoverySuggestion:
          """
          Check that the nodes run. Their certificates must allow use by a client (clientAuth), too, because the \
          gateway is a client of its own node.
          """,
        underlying: underlying)
    case let code where refusal.isTransient:
      return error(
        code == 4 ? .timedOut : .connectionLost, "The cluster has no leader, or is shutting down.",
        recoverySuggestion: "Check that most of the nodes run.", underlying: underlying)
    default:
      return error(.other, "The cluster refuses the request.", underlying: underlying)
    }
  }
}

extension SecureStorageError {
  /// `true` for a refused password of the user.
  var isRefusedPassword: Bool {
    code == .accessDenied && underlying?.text.contains(FleetSettings.refusedPassword) == true
  }
}

extension SecureStorageError.Operation {
  /// The operation that creates a namespace in a cluster.
  public static let initialize = Self(rawValue: "initialize")
  /// The operation that wraps the keys of a namespace with another key.
  public static let rewrapKeys = Self(rawValue: "rewrapKeys")
  /// The operation that encrypts all items of a namespace with a new key.
  public static let rotateDataKey = Self(rawValue: "rotateDataKey")
}
#endif
