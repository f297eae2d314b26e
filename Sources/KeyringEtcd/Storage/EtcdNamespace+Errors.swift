// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringStorage

extension EtcdNamespace {
  /// Returns an error of the storage; the caller sets its operation.
  func error(
    _ code: SecureStorageError.Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backendName: "\(EtcdStorage.self)", message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }

  /// Returns the error for a request that has no reply.
  func error(for cause: EtcdFailure.Cause) -> SecureStorageError {
    let nodes = settings.endpoints.joined(separator: ", ")
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
        recoverySuggestion: "Check the addresses and the certificates: \(nodes).",
        underlying: underlying(text))
    case .untrusted(let text):
      return error(
        .accessDenied, "The certificate of the cluster or of this program isn't trusted.",
        recoverySuggestion:
          """
          Check the files in the argument "tls", whether a certificate has expired, the clocks of this machine \
          and of the nodes, and whether the nodes use TLS 1.2 or later.
          """,
        underlying: underlying(text))
    case .lost(let text):
      return error(
        .connectionLost, "The connection to the cluster was lost.",
        recoverySuggestion: "Check that most of the nodes run: \(nodes).",
        underlying: underlying(text))
    case .malformed(let text):
      return error(
        .noProvider, "The reply isn't from etcd's JSON gateway.",
        recoverySuggestion: text.contains("CommonName")
          ? "Use a client certificate without a common name."
          : "Check the addresses, and set enable-grpc-gateway in etcd's configuration.",
        underlying: underlying(text))
    case .refused(let refusal):
      return error(refusal, underlying(refusal.message, refusal.code))
    }
  }

  func databaseIsFull(_ underlying: SecureStorageError.Underlying? = nil) -> SecureStorageError {
    error(
      .other, "The cluster's database is full.",
      recoverySuggestion: "Compact and defragment the database, and disarm the alarm NOSPACE.",
      underlying: underlying)
  }

  fileprivate static let refusedPassword = "authentication failed"

  private func error(
    _ refusal: GatewayError, _ underlying: SecureStorageError.Underlying
  ) -> SecureStorageError {
    let user = settings.user.map { "The user \($0.name)" } ?? "A program without a user"
    switch refusal.code {
    case 3 where refusal.message.contains(Self.refusedPassword):
      return error(
        .accessDenied, "The cluster refuses the password of the user.",
        recoverySuggestion: "Check the name and the password of the user.", underlying: underlying)
    case _ where refusal.isTooLarge:
      return error(
        .invalidArgument, "The item is too large for the cluster.",
        recoverySuggestion: "Store a smaller secret.", argument: "secret", underlying: underlying)
    case _ where refusal.isDenial:
      return error(
        .accessDenied, "\(user) may not do this in the cluster.",
        recoverySuggestion: settings.user == nil
          ? "Name a user in the argument \"user\". With keyring-tool, set ETCDCTL_USER."
          : "Grant the user a role for the namespace \(settings.namespace).",
        underlying: underlying)
    case _ where refusal.isAboutToken:
      return error(
        .accessDenied, "The users and roles of the cluster changed during the operation.",
        recoverySuggestion: "Repeat it.", underlying: underlying)
    case 9:
      return error(
        .invalidArgument, "The cluster has no users, but the storage names one.",
        recoverySuggestion: "Leave out the user, or turn on authentication in the cluster.",
        argument: "user", underlying: underlying)
    case _ where refusal.isDatabaseFull:
      return databaseIsFull(underlying)
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
  /// Indicates whether the cluster has refused the password of the user.
  var isRefusedPassword: Bool {
    code == .accessDenied && underlying?.text.contains(EtcdNamespace.refusedPassword) == true
  }
}

extension GatewayError {
  var isDatabaseFull: Bool { code == 8 && message.contains("database space exceeded") }

  /// Indicates whether the user, or a program without one, may not do something.
  fileprivate var isDenial: Bool {
    code == 7 || code == 3 && message.contains("user name is empty")
  }
}
#endif
