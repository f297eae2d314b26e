// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The parts of an internet password that Apple has attributes for.
struct KeychainServer {
  /// The parts of a key, by the names of this package.
  let parts: [String: String]

  private static let texts: [(name: String, entry: KeychainEntry)] = [
    (AttributeName.user, .account), (AttributeName.server, .server), (AttributeName.object, .path),
    (AttributeName.domain, .securityDomain),
  ]

  /// Checks that Apple has an attribute for each part of a key, and a name for its values.
  init?(_ parts: [String: String]) {
    for (name, value) in parts {
      switch name {
      case AttributeName.port:
        guard let port = UInt16(value), port > 0, "\(port)" == value else { return nil }
      case AttributeName.protocol:
        guard Self.protocols.contains(where: { $0.name.hasSameBytes(value) }) else { return nil }
      case AttributeName.authenticationType:
        guard Self.types.contains(where: { $0.name.hasSameBytes(value) }) else { return nil }
      default: guard Self.texts.contains(where: { $0.name == name }) else { return nil }
      }
    }
    if parts.isEmpty { return nil }
    self.parts = parts
  }

  /// Finds the parts of an item, or `nil` for a part that has no name here.
  init?(_ found: KeychainDictionary, isFileBased: Bool) {
    var parts: [String: String] = [:]
    for (name, entry) in Self.texts {
      guard let text = (found[entry] ?? .text("")).string.flatMap(KeychainText.text)
      else { return nil }
      if !text.isEmpty { parts[name] = text }
    }
    // On data protection, zero and empty text are different values, and one of them stands for none.
    if case .number(let port)? = found[.port] {
      if port != 0 { parts[AttributeName.port] = "\(port)" }
    } else if !isFileBased, found[.port] != nil {
      return nil
    }
    let codes = [
      (AttributeName.protocol, KeychainEntry.protocol, Self.protocols),
      (AttributeName.authenticationType, .authenticationType, Self.types),
    ]
    for (name, entry, table) in codes {
      guard let value = found[entry] else { continue }
      if isFileBased || entry == .protocol, value == .number(0) { continue }
      if isFileBased || entry != .protocol, value.string?.isEmpty == true { continue }
      guard let known = table.first(where: { $0.code == value.string }) else { return nil }
      parts[name] = known.name
    }
    self.init(parts)
  }

  /// Returns the entries for all parts, because a missing one would match any value.
  ///
  /// In the file, no authentication type has two forms, one of which has no name.
  func entries(isFileBased: Bool) -> KeychainDictionary {
    var entries: KeychainDictionary = [:]
    for (name, entry) in Self.texts {
      entries[entry] = .text(parts[name].map(KeychainText.stored) ?? "")
    }
    entries[.port] = .number(parts[AttributeName.port].flatMap { Int64($0) } ?? 0)
    // What isn't a protocol is a number on data protection, and empty text in the file.
    let none = isFileBased ? KeychainValue.text("") : .number(0)
    entries[.protocol] = code(AttributeName.protocol, Self.protocols) ?? none
    entries[.authenticationType] =
      code(AttributeName.authenticationType, Self.types) ?? (isFileBased ? nil : .text(""))
    return entries
  }

  private func code(_ name: String, _ table: [(name: String, code: String)]) -> KeychainValue? {
    table.first { $0.name == parts[name] }.map { .text($0.code) }
  }

  /// The names of protocols, and the values of Apple's `kSecAttrProtocol…`, which are in stored items.
  private static let protocols: [(name: String, code: String)] = [
    ("ftp", "ftp "), ("ftp-account", "ftpa"), ("http", "http"), ("irc", "irc "), ("nntp", "nntp"),
    ("pop3", "pop3"), ("smtp", "smtp"), ("socks", "sox "), ("imap", "imap"), ("ldap", "ldap"),
    ("appletalk", "atlk"), ("afp", "afp "), ("telnet", "teln"), ("ssh", "ssh "), ("ftps", "ftps"),
    ("https", "htps"), ("http-proxy", "htpx"), ("https-proxy", "htsx"), ("ftp-proxy", "ftpx"),
    ("smb", "smb "), ("rtsp", "rtsp"), ("rtsp-proxy", "rtsx"), ("daap", "daap"), ("eppc", "eppc"),
    ("ipp", "ipp "), ("nntps", "ntps"), ("ldaps", "ldps"), ("telnets", "tels"), ("imaps", "imps"),
    ("ircs", "ircs"), ("pop3s", "pops"),
  ]

  /// The names of authentication types, and the values of Apple's `kSecAttrAuthenticationType…`.
  private static let types: [(name: String, code: String)] = [
    ("ntlm", "ntlm"), ("msn", "msna"), ("dpa", "dpaa"), ("rpa", "rpaa"), ("http-basic", "http"),
    ("http-digest", "httd"), ("html-form", "form"), ("default", "dflt"),
  ]
}
