// SPDX-License-Identifier: Apache-2.0

/// A server and the way to reach it.
///
/// These parts and the account form the key of an internet password. Every part that you specify belongs to
/// the key. It also matters which parts you specify: the password of `git.example.org` and the password of
/// `https://git.example.org` are two items.
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
  public var `protocol`: InternetProtocol?
  /// The way in which the user authenticates.
  public var authenticationType: AuthenticationType?

  /// Creates a description of a server.
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
    protocol: InternetProtocol? = nil,
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

/// A protocol, identified by the scheme of its URLs.
///
/// You can use any scheme, not only the ones defined here.
public struct InternetProtocol: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The scheme of the protocol's URLs.
  public let rawValue: String

  /// Creates a protocol from a scheme.
  ///
  /// - Parameter rawValue: The scheme of the protocol's URLs.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a protocol from a scheme.
  ///
  /// - Parameter value: The scheme of the protocol's URLs.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// Apple Filing Protocol.
  public static let afp: Self = "afp"
  /// File Transfer Protocol.
  public static let ftp: Self = "ftp"
  /// FTP over TLS.
  public static let ftps: Self = "ftps"
  /// Hypertext Transfer Protocol.
  public static let http: Self = "http"
  /// HTTP over TLS.
  public static let https: Self = "https"
  /// Internet Message Access Protocol.
  public static let imap: Self = "imap"
  /// IMAP over TLS.
  public static let imaps: Self = "imaps"
  /// Internet Printing Protocol.
  public static let ipp: Self = "ipp"
  /// Internet Relay Chat.
  public static let irc: Self = "irc"
  /// IRC over TLS.
  public static let ircs: Self = "ircs"
  /// Lightweight Directory Access Protocol.
  public static let ldap: Self = "ldap"
  /// LDAP over TLS.
  public static let ldaps: Self = "ldaps"
  /// Network News Transfer Protocol.
  public static let nntp: Self = "nntp"
  /// NNTP over TLS.
  public static let nntps: Self = "nntps"
  /// Post Office Protocol, version 3.
  public static let pop3: Self = "pop3"
  /// POP3 over TLS.
  public static let pop3s: Self = "pop3s"
  /// Real Time Streaming Protocol.
  public static let rtsp: Self = "rtsp"
  /// Server Message Block.
  public static let smb: Self = "smb"
  /// SMB over TLS.
  public static let smbs: Self = "smbs"
  /// Simple Mail Transfer Protocol.
  public static let smtp: Self = "smtp"
  /// SMTP over TLS.
  public static let smtps: Self = "smtps"
  /// SOCKS proxy.
  public static let socks: Self = "socks"
  /// Secure Shell.
  public static let ssh: Self = "ssh"
  /// Telnet.
  public static let telnet: Self = "telnet"
  /// Telnet over TLS.
  public static let telnets: Self = "telnets"
}

/// A way to authenticate to a server.
///
/// You can use any name, not only the ones defined here.
public struct AuthenticationType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
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
