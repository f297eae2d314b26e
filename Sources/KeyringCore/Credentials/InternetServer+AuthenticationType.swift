// SPDX-License-Identifier: Apache-2.0

extension InternetServer {
  /// A way to authenticate to a server.
  ///
  /// You can use any name, not only the ones defined here.
  public struct AuthenticationType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral
  {
    /// The name of the authentication type.
    public let rawValue: String

    /// Creates an authentication type from its name.
    ///
    /// - Parameter rawValue: The name of the authentication type.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an authentication type from its name.
    ///
    /// - Parameter value: The name of the authentication type.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The default of the protocol.
    public static let `default`: Self = "default"
    /// Distributed Password Authentication.
    public static let dpa: Self = "dpa"
    /// A form on a web page.
    public static let htmlForm: Self = "html-form"
    /// HTTP Basic, RFC 7617.
    public static let httpBasic: Self = "http-basic"
    /// HTTP Digest, RFC 7616.
    public static let httpDigest: Self = "http-digest"
    /// Microsoft Network.
    public static let msn: Self = "msn"
    /// Windows NT LAN Manager.
    public static let ntlm: Self = "ntlm"
    /// Remote Password Authentication.
    public static let rpa: Self = "rpa"
  }
}
