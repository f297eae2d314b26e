// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringFoundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// A reason why a node or this program has a certificate that the other one refuses, and what to do about it.
///
/// It's a text for people. No certificate is trusted because of it.
struct CertificateFault {
  let text: String
  let recoverySuggestion: String

  /// Returns the fault of this program's certificate, if it isn't valid at a time.
  ///
  /// - Parameters:
  ///   - tls: The files for encrypted connections.
  ///   - now: The time.
  /// - Returns: The fault, or `nil` if the certificate is valid, or if the program has none.
  static func ofProgram(_ tls: EtcdTLS?, at now: Date = Date()) -> CertificateFault? {
    guard let path = tls?.certificate,
      // A storage that can't read the file throws an error that says so.
      let certificate = try? NIOSSLCertificate.fromPEMFile(path).first
    else { return nil }
    return outOfDate(
      certificate, "The certificate of this program in \(path)", at: now,
      "Replace the file, and restart the program.")
  }

  /// Returns the reason why the connection to a node failed.
  ///
  /// If the reason may be the node's certificate, the method looks at it.
  ///
  /// - Parameters:
  ///   - endpoint: The node.
  ///   - reason: The text of ``EtcdFailure/Cause/untrusted(_:)``.
  ///   - tls: The files for encrypted connections.
  /// - Returns: The fault, or `nil` if it isn't known.
  static func ofNode(
    _ endpoint: EtcdEndpoint, _ reason: String, _ tls: EtcdTLS?
  ) async -> CertificateFault? {
    if reason.contains("failedToValidateHostname") {
      return CertificateFault(
        text: "Its certificate isn't for this address.",
        recoverySuggestion:
          "Use an address that it names, or replace it with one that names this address.")
    }
    if reason.contains("_ALERT_"),
      reason.contains("CERTIFICATE") || reason.contains("UNKNOWN_CA")
    {
      return refusal(tls?.certificate)
    }
    guard reason.contains("CERTIFICATE_VERIFY_FAILED"),
      let presented = await certificate(of: endpoint)
    else { return nil }
    return outOfDate(presented, "Its certificate", at: Date(), "Replace it on the node.")
      ?? ofAuthorities(tls?.authorities)
  }

  private static func outOfDate(
    _ certificate: NIOSSLCertificate, _ name: String, at now: Date, _ recoverySuggestion: String
  ) -> CertificateFault? {
    if certificate.end < now {
      return CertificateFault(
        text: "\(name) expired on \(certificate.end.ISO8601Format()).",
        recoverySuggestion:
          "\(recoverySuggestion) If it should still be valid, check the clock of this machine.")
    }
    let start = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
    guard start > now else { return nil }
    return CertificateFault(
      text: "\(name) isn't valid until \(start.ISO8601Format()).",
      recoverySuggestion: "Check the clock of this machine.")
  }

  /// Returns the fault if a node refuses the certificate of this program, or asks for one.
  private static func refusal(_ path: String?) -> CertificateFault {
    guard let path else {
      return CertificateFault(
        text: "It asks for a certificate of this program.",
        recoverySuggestion:
          """
          Name a certificate and its key in the argument "tls". With keyring-tool, set ETCDCTL_CERT and \
          ETCDCTL_KEY.
          """)
    }
    return CertificateFault(
      text: "It refuses the certificate of this program.",
      recoverySuggestion:
        """
        Check that the certificate in \(path) is signed by an authority of the node (--trusted-ca-file), allows \
        use by a client (clientAuth), and isn't expired or revoked. If the file was replaced, restart the program.
        """)
  }

  /// Returns the fault if the certificate of a node is in date, but isn't trusted.
  private static func ofAuthorities(_ path: String?) -> CertificateFault {
    guard let path else {
      return CertificateFault(
        text: "Its certificate isn't signed by an authority that this system trusts.",
        recoverySuggestion:
          """
          Name the certificates of the cluster's authorities in the argument "tls". With keyring-tool, set \
          ETCDCTL_CACERT.
          """)
    }
    // A storage that can't read the file throws an error that says so.
    let ends = (try? NIOSSLCertificate.fromPEMFile(path).map(\.end)) ?? []
    if let last = ends.max(), last < Date() {
      return CertificateFault(
        text: "The authorities in \(path) expired on \(last.ISO8601Format()).",
        recoverySuggestion:
          """
          Replace the file, and restart the program. The new authority also has to sign the certificates of the \
          nodes.
          """)
    }
    return CertificateFault(
      text: "Its certificate isn't signed by an authority in \(path).",
      recoverySuggestion:
        """
        Check that the file is the one of this cluster, and that none of its certificates has expired. The node \
        must also send intermediate certificates if there are any, and its own must allow use by a server \
        (serverAuth).
        """)
  }

  // MARK: - Inspection

  /// The time that a node has to send its certificate.
  private static let patience = TimeAmount.seconds(2)

  /// Returns the certificate that a node presents, or `nil` if it sends none in time.
  ///
  /// The connection ends as soon as the certificate has arrived. The node gets no certificate and no request.
  private static func certificate(of endpoint: EtcdEndpoint) async -> NIOSSLCertificate? {
    if !endpoint.isEncrypted { return nil }
    let (host, port) = (endpoint.host, endpoint.port)
    // A host that can't be read as an address is a name. NIOSSL refuses an address as a name.
    let name = (try? SocketAddress(ipAddress: host, port: port)) == nil ? host : nil
    let loop = HTTPTransport.thread.next()
    // Only the first value counts.
    let found = loop.makePromise(of: NIOSSLCertificate?.self)
    let limit = loop.scheduleTask(in: patience) { found.succeed(nil) }
    let connection = ClientBootstrap(group: loop)
      .connectTimeout(patience)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          var configuration = TLSConfiguration.makeClientConfiguration()
          configuration.minimumTLSVersion = .tlsv12
          configuration.trustRoots = .certificates([])
          let handler = try NIOSSLClientHandler(
            context: try NIOSSLContext(configuration: configuration), serverHostname: name,
            customVerificationCallback: { certificates, verdict in
              found.succeed(certificates.first)
              verdict.succeed(.failed)
            })
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
      .connect(host: host, port: port)
    connection.flatMap { $0.closeFuture }.whenComplete { _ in found.succeed(nil) }
    // The promise never fails.
    let certificate = try? await found.futureResult.get()
    limit.cancel()
    connection.whenSuccess { $0.close(promise: nil) }
    return certificate
  }
}

extension NIOSSLCertificate {
  /// The time after which the certificate isn't valid.
  fileprivate var end: Date { Date(timeIntervalSince1970: TimeInterval(notValidAfter)) }
}
#endif
