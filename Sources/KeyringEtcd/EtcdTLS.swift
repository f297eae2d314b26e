// SPDX-License-Identifier: Apache-2.0

/// The files that an app needs for encrypted connections to an etcd cluster, in the PEM format.
///
/// ```swift
/// let tls = EtcdTLS(
///   authorities: "/etc/example/authorities.pem", certificate: "/etc/example/program.pem",
///   privateKey: "/etc/example/program.key")
/// ```
public struct EtcdTLS: Sendable {
  let authorities: String
  let certificate: String?
  let privateKey: String?

  /// Creates a description of connections with a certificate of this program.
  ///
  /// - Parameters:
  ///   - authorities: The path of the certificates that sign the certificates of the nodes.
  ///   - certificate: The path of the certificate of this program, followed by the certificates that sign it. It
  ///     must not have a common name in a cluster with users, because etcd's gateway refuses it.
  ///   - privateKey: The path of the key of that certificate.
  public init(authorities: String, certificate: String, privateKey: String) {
    self.authorities = authorities
    self.certificate = certificate
    self.privateKey = privateKey
  }

  /// Creates a description of connections on which only the nodes have certificates.
  ///
  /// - Parameter authorities: The path of the certificates that sign the certificates of the nodes.
  public init(authorities: String) {
    self.authorities = authorities
    (certificate, privateKey) = (nil, nil)
  }
}
