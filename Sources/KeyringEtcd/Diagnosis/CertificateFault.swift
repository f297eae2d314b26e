// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import NIOSSL

/// A reason why a node or this program has a certificate that the other one refuses, and what to do about it.
///
/// It's only a text for people.
struct CertificateFault {
  let text: String
  let recoverySuggestion: String

  /// Returns the fault of this program's certificate at a time.
  ///
  /// - Parameters:
  ///   - tls: The files for encrypted connections.
  ///   - now: The time.
  /// - Returns: The fault, or `nil` for a valid or missing certificate.
  static func ofProgram(_ tls: EtcdTLS?, at now: Date = Date()) -> CertificateFault? {
    outOfDate(tls?.certificate, "The certificate of this program", at: now) { $0.first }
  }

  /// Returns the reason why the connection to a node failed.
  ///
  /// - Parameters:
  ///   - endpoint: The node.
  ///   - reason: The text of ``EtcdFailure/Cause/untrusted(_:)``.
  ///   - tls: The files for encrypted connections.
  /// - Returns: The fault, or `nil` for an unknown one.
  static func ofNode(
    _ endpoint: EtcdEndpoint, _ reason: String, _ tls: EtcdTLS?
  ) -> CertificateFault? {
    if reason.contains("failedToValidateHostname") {
      return CertificateFault(
        text: "Its certificate isn't for this address.",
        recoverySuggestion:
          "Use an address that it names, or replace it with one that names this address.")
    }
    if reason.contains("_ALERT_"), reason.contains("CERTIFICATE") || reason.contains("UNKNOWN_CA") {
      return refusal(tls?.certificate)
    }
    guard reason.contains("CERTIFICATE_VERIFY_FAILED") else { return nil }
    let authorities = tls?.authorities
    // The file can have several authorities, of which one is enough. The next one may not be valid yet.
    let now = Date()
    let seconds = Int(now.timeIntervalSince1970)
    let fault = outOfDate(authorities, "The authority", at: now) { certificates in
      let begun = certificates.filter { $0.notValidBefore <= seconds }
      return (begun.isEmpty ? certificates : begun).max { $0.notValidAfter < $1.notValidAfter }
    }
    return fault
      ?? CertificateFault(
        text: "Its certificate isn't valid now, or isn't signed by an authority "
          + (authorities.map { "in \($0)." } ?? "that this system trusts."),
        recoverySuggestion: """
          Run openssl s_client -connect \(endpoint.description.dropFirst(8)), which shows its certificates and their \
          dates. The argument "tls" names the authorities; with keyring-tool, set ETCDCTL_CACERT. The certificate \
          must allow use by a server (serverAuth).
          """)
  }

  /// Returns the fault of one certificate in a file at a time.
  private static func outOfDate(
    _ path: String?, _ name: String, at now: Date,
    _ choice: ([NIOSSLCertificate]) -> NIOSSLCertificate?
  ) -> CertificateFault? {
    // A storage that can't read the file throws an error that says so.
    guard let path, let certificate = (try? NIOSSLCertificate.fromPEMFile(path)).flatMap(choice)
    else { return nil }
    func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
    let (start, end) = (date(certificate.notValidBefore), date(certificate.notValidAfter))
    if start <= now, now <= end { return nil }
    let relation =
      end < now ? "expired on \(end.ISO8601Format())" : "isn't valid until \(start.ISO8601Format())"
    return CertificateFault(
      text: "\(name) in \(path) \(relation).",
      recoverySuggestion:
        "Check the clock of this machine. If it's right, replace the file, and restart the program."
    )
  }

  /// Returns the fault for a node that refuses the certificate of this program, or asks for one.
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
}
#endif
