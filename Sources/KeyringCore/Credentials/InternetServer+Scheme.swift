// SPDX-License-Identifier: Apache-2.0

extension InternetServer {
  /// A protocol, identified by the scheme of its URLs.
  ///
  /// You can use any scheme, not only the ones defined here.
  ///
  /// ```swift
  /// let server = InternetServer("dict.example.org", protocol: "dict")
  /// ```
  public struct Scheme: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
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
}
