// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
internal import KeyringStorage

/// A format with a URL per line, in which the password follows the login.
///
/// See [git-credential-store](https://git-scm.com/docs/git-credential-store#_storage_format). Git doesn't read lines of
/// another form.
enum GitCredentialsFormat {
  /// Returns the passwords, whose path is the URL without the password.
  static func entries(of content: Secret) -> [PlaintextEntry] {
    content.withUnsafeBytes { bytes in
      var entries: [PlaintextEntry] = []
      var start = 0
      while start < bytes.count {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let range = start..<min(end + 1, bytes.count)
        if end > start { entries.append(entry(bytes[start..<end], range)) }
        start = range.upperBound
      }
      return entries
    }
  }

  private static func entry(
    _ line: Slice<UnsafeRawBufferPointer>, _ range: Range<Int>
  ) -> PlaintextEntry {
    // As git does, this looks for the first "@" before the path.
    guard let scheme = line.firstIndex(of: UInt8(ascii: ":")), scheme > line.startIndex,
      line[scheme...].starts(with: "://".utf8), !line.contains(UInt8(ascii: "\r"))
    else { return .unusable(noURL, range) }
    let start = scheme + 3
    let authority = line[start...].prefix { !"/?#".utf8.contains($0) }
    guard let at = authority.firstIndex(of: UInt8(ascii: "@")),
      // Otherwise, the rest of a password that isn't encoded would be a part of the name.
      !authority[(at + 1)...].contains(UInt8(ascii: "@")),
      let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")), colon > start,
      let name = String(validating: Array(line[..<colon]) + Array(line[at...]), as: UTF8.self)
    else { return .unusable(noURL, range) }
    let password = line[(colon + 1)..<at]
    // Names are shown, and logins aren't encrypted.
    if password.isEmpty || password.elementsEqual(PlaintextEntry.noPassword.utf8) {
      return .unusable(PlaintextEntry.tokenAsLogin, range)
    }
    return PlaintextEntry(
      path: [name], kind: .text, secret: Secret(bytes: PercentDecoded(password)), range: range)
  }

  private static let noURL = "isn't a URL with a login and a password"
}
