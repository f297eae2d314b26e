// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A format with a URL per line, in which the password follows the login.
///
/// See [git-credential-store](https://git-scm.com/docs/git-credential-store#_storage_format). Git doesn't read lines of
/// another form.
struct GitCredentialsFormat: PlaintextFormat {
  private struct Line {
    let range: Range<Int>
    /// The URL without its password, or `nil` if no item can be made from the line.
    var name: String?
    var password = 0..<0
    var problem = "isn't a URL with a login and a password"
  }

  func names(in content: Secret) -> [PlaintextName] {
    lines(in: content).map { line in
      guard let name = line.name else {
        return PlaintextName(position: line.range.lowerBound, problem: line.problem)
      }
      return PlaintextName(path: [name], position: line.range.lowerBound)
    }
  }

  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart? {
    let same = lines(in: content).filter { $0.name.map { [$0] } == path }
    guard same.count < 2 else {
      throw PlaintextFormatError("The file has several passwords of \(path[0]).", code: .ambiguous)
    }
    guard let line = same.first else { return nil }
    guard let password = content[line.password].percentDecoded else {
      throw PlaintextFormatError("The password of \(path[0]) isn't percent-encoded correctly.")
    }
    return (.bytes(password), line.range)
  }

  private func lines(in content: Secret) -> [Line] {
    content.withUnsafeBytes { bytes in
      var lines: [Line] = []
      var start = 0
      while start < bytes.count {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let next = min(end + 1, bytes.count)
        if end > start { lines.append(line(bytes, start..<end, until: next)) }
        start = next
      }
      return lines
    }
  }

  private func line(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, until next: Int
  ) -> Line {
    var line = Line(range: range.lowerBound..<next)
    let text = bytes[range]
    // As git does, this looks for the first "@" before the path.
    guard let scheme = text.firstIndex(of: UInt8(ascii: ":")), scheme > text.startIndex,
      text[scheme...].starts(with: "://".utf8), !text.contains(UInt8(ascii: "\r"))
    else { return line }
    let start = scheme + 3
    let authority = text[start...].prefix { !"/?#".utf8.contains($0) }
    guard let at = authority.firstIndex(of: UInt8(ascii: "@")),
      // Otherwise, the rest of a password that isn't encoded would be a part of the name.
      !authority[(at + 1)...].contains(UInt8(ascii: "@")),
      let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")), colon > start
    else { return line }
    line.password = colon + 1..<at
    // Names are shown, and logins aren't encrypted.
    if text[line.password].isEmpty || text[line.password].elementsEqual(Secret.noPassword.utf8) {
      line.problem = Secret.tokenAsLogin
      return line
    }
    line.name = String(validating: Array(text[..<colon]) + Array(text[at...]), as: UTF8.self)
    return line
  }
}

extension Secret {
  /// The password with which programs log in to GitHub if the login is a token.
  static let noPassword = "x-oauth-basic"
  /// The reason why no item is made from such a login.
  static let tokenAsLogin = "has a token as the login, which an item would show"

  /// The bytes with each `%` and two hexadecimal digits replaced, or `nil` if digits are missing (RFC 3986).
  fileprivate var percentDecoded: Secret? {
    withUnsafeBytes { bytes in
      var isValid = true
      let decoded = Secret(capacity: count) { room in
        var end = 0
        var position = 0
        while position < bytes.count {
          var byte = bytes[position]
          if byte == UInt8(ascii: "%") {
            let digits = bytes[position...].dropFirst().prefix(2)
              .compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if digits.count < 2 {
              isValid = false
              break
            }
            byte = UInt8(digits[0] << 4 | digits[1])
            position += 2
          }
          room[end] = byte
          end += 1
          position += 1
        }
        return end
      }
      return isValid ? decoded : nil
    }
  }
}
