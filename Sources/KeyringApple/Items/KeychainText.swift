// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage

/// The forms in which a keychain keeps text.
enum KeychainText {
  /// The beginning of each text that only this package understands.
  static let mark = "swift-keyring:"
  private static let textMark = mark + ":"

  /// Returns the text of an attribute.
  ///
  /// A text comes back from the keychain without its first byte order mark. One with the package's mark
  /// would be taken for something else.
  static func stored(_ text: String) -> String {
    text.utf8.starts(with: "\u{FEFF}".utf8) || text.utf8.starts(with: mark.utf8)
      ? textMark + text : text
  }

  /// Returns a text from that of an attribute, or `nil` for one that isn't stored like this.
  static func text(_ stored: String) -> String? {
    let text =
      stored.utf8.starts(with: textMark.utf8)
      ? String(Substring(stored.utf8.dropFirst(textMark.utf8.count))) : stored
    return self.stored(text).hasSameBytes(stored) ? text : nil
  }

  /// Returns several texts as one, with the mark.
  static func stored(list: [String]) -> String {
    mark + list.map(escaped).joined(separator: ",")
  }

  /// Returns the texts of one with the mark, or `nil` for any other text.
  static func list(_ stored: String) -> [String]? {
    guard stored.utf8.starts(with: mark.utf8) else { return nil }
    let parts = stored.utf8.dropFirst(mark.utf8.count)
    if parts.isEmpty { return [] }
    let list = parts.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { unescaped(Substring($0)) }
    return self.stored(list: list).hasSameBytes(stored) ? list : nil
  }

  private static let escapes: [(character: UInt8, code: String)] = [
    (UInt8(ascii: "%"), "%25"), (UInt8(ascii: ","), "%2C"),
    (UInt8(ascii: ":"), "%3A"),
  ]

  private static func escaped(_ text: String) -> String {
    // Most texts have nothing to escape.
    var text = text
    let hasEscapes = text.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return false }
      return escapes.contains { unsafe memchr(start, Int32($0.character), bytes.count) != nil }
    }
    if !hasEscapes { return text }
    let bytes = text.utf8.flatMap { byte in
      escapes.first { $0.character == byte }.map { Array($0.code.utf8) } ?? [byte]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.first {
      let escape = escapes.first { rest.starts(with: $0.code.utf8) }
      rest = rest.dropFirst(escape?.code.utf8.count ?? 1)
      bytes.append(escape?.character ?? byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
