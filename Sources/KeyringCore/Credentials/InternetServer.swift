// SPDX-License-Identifier: Apache-2.0

/// A server and the way to reach it.
///
/// Each part that you specify identifies the password: `git.example.org` and `https://git.example.org` have
/// two.
///
/// ```swift
/// let server = InternetServer("git.example.org", port: 8443, protocol: .https)
/// ```
public struct InternetServer: Hashable, Sendable {
  /// The name or the address of the host.
  public var host: String
  /// The port, if it isn't the default port of the protocol.
  public var port: UInt16?
  /// The path on the server.
  public var path: String?
  /// The security domain, or realm, that the server names when it asks for a password.
  public var securityDomain: String?
  /// The protocol that the server uses.
  public var `protocol`: Scheme?
  /// The way in which the user authenticates.
  public var authenticationType: AuthenticationType?

  /// Creates a description of a server.
  ///
  /// ```swift
  /// let server = InternetServer("example.org", port: 8443, path: "/mail", protocol: .https)
  /// ```
  ///
  /// - Parameters:
  ///   - host: The name or the address of the host.
  ///   - port: The port, if it isn't the default port of the protocol.
  ///   - path: The path on the server.
  ///   - securityDomain: The security domain, or realm.
  ///   - protocol: The protocol that the server uses.
  ///   - authenticationType: The way in which the user authenticates.
  public init(
    _ host: String,
    port: UInt16? = nil,
    path: String? = nil,
    securityDomain: String? = nil,
    protocol: Scheme? = nil,
    authenticationType: AuthenticationType? = nil
  ) {
    self.host = host
    self.port = port
    self.path = path
    self.securityDomain = securityDomain
    self.protocol = `protocol`
    self.authenticationType = authenticationType
  }
}

extension InternetServer: ExpressibleByStringInterpolation {
  /// Creates a description of the server at a host.
  public init(stringLiteral host: String) { self.init(host) }
}
