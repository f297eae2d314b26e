/// A server, and how it is reached: all of an internet password's key but the account.
///
/// Every part that is given is part of the key, and so is which parts are given: the password of
/// `git.example.org` and that of `https://git.example.org` are two items.
public struct InternetServer: Hashable, Sendable {
  /// The name or address of the host.
  public var host: String
  /// The port, if it is not to be the protocol's own.
  public var port: UInt16?
  /// The path on the server.
  public var path: String?
  /// The security domain, or realm, that the server names when it asks for a password.
  public var securityDomain: String?
  /// The protocol.
  public var `protocol`: InternetProtocol?
  /// How the user authenticates.
  public var authenticationType: AuthenticationType?

  /// Describes a server.
  ///
  /// - Parameters:
  ///   - host: The name or address of the host.
  ///   - port: The port.
  ///   - path: The path on the server.
  ///   - securityDomain: The security domain, or realm.
  ///   - protocol: The protocol.
  ///   - authenticationType: How the user authenticates.
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

  /// The parts as attributes of the schema org.gnome.keyring.NetworkPassword.
  package var attributes: [String: String] {
    [
      (AttributeName.server, host),
      (AttributeName.port, port.map { String($0) }),
      (AttributeName.object, path),
      (AttributeName.domain, securityDomain),
      (AttributeName.protocol, `protocol`?.rawValue),
      (AttributeName.authenticationType, authenticationType?.rawValue),
    ].reduce(into: [:]) { $0[$1.0] = $1.1 }
  }
}

/// A protocol, by the scheme of its URLs; any other is as good as those named here.
public struct InternetProtocol: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The scheme.
  public let rawValue: String

  /// Names a protocol.
  ///
  /// - Parameter rawValue: The scheme of its URLs.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Names a protocol.
  ///
  /// - Parameter value: The scheme of its URLs.
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

/// How a user authenticates to a server; any other way is as good as those named here.
public struct AuthenticationType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name of the way.
  public let rawValue: String

  /// Names a way to authenticate.
  ///
  /// - Parameter rawValue: Its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Names a way to authenticate.
  ///
  /// - Parameter value: Its name.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// Whatever the protocol does by default.
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
