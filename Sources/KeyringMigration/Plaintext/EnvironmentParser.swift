// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A parser of a file with one `NAME=value` per line, which finds the variables and their ranges.
///
/// It refuses what the common readers of such files understand in different ways.
struct EnvironmentParser: TextScanner {
  static let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
  private static let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
  private static let backslash = UInt8(ascii: "\\")

  /// The meanings of the characters after a backslash.
  private static let escapes = Dictionary(
    uniqueKeysWithValues: zip("nrt\"\\".utf8, "\n\r\t\"\\".utf8))

  let bytes: UnsafeRawBufferPointer

  @Sendable static func parts(
    of content: Secret
  ) throws(PlaintextFormatError) -> [PlaintextPart] {
    try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      try EnvironmentParser(bytes: bytes).parts()
    }
  }

  /// Returns the variables.
  ///
  /// - Throws: `PlaintextFormatError` with the number of a line that isn't `NAME=value`. The lines after it may
  ///   belong to its value.
  private func parts() throws(PlaintextFormatError) -> [PlaintextPart] {
    var parts: [PlaintextPart] = []
    var position = start
    while position < bytes.count {
      if isBlankLine(at: position) {
        position = nextLine(after: position)
      } else {
        let line = try line(at: position)
        parts.append(line.part)
        position = line.next
      }
    }
    return parts
  }

  /// Returns the variable that a line sets, and the start of the next line.
  private func line(
    at start: Int
  ) throws(PlaintextFormatError) -> (part: PlaintextPart, next: Int) {
    guard let (name, valueStart) = name(at: start) else {
      throw PlaintextFormatError("Line \(bytes.line(at: start)) isn't NAME=value.")
    }
    func problem(_ phrase: String) -> PlaintextFormatError {
      PlaintextFormatError("The value of \"\(name)\" on line \(bytes.line(at: start)) \(phrase).")
    }
    let quote = byte(at: valueStart)
    guard let quote, [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`")].contains(quote)
    else {
      let next = nextLine(after: valueStart)
      let (end, comment) = plainEnd(from: valueStart)
      // Some readers continue the value on the next line.
      if end > valueStart, bytes[end - 1] == Self.backslash {
        throw problem("ends with a backslash")
      }
      let value = plain(valueStart..<end, comment)
      return (PlaintextPart(path: [name], range: start..<(comment ?? next), value: value), next)
    }
    // Some readers treat a backtick as a quote, and others as part of the value. Some take a quote after two
    // backslashes for an escaped one.
    guard quote != UInt8(ascii: "`"), let end = closing(quote, from: valueStart + 1),
      bytes[end - 1] != Self.backslash, let rest = endOfBlanks(from: end + 1)
    else { throw problem("has misplaced quotes") }
    let value = quoted(valueStart + 1..<end, by: quote)
    return (PlaintextPart(path: [name], range: start..<rest, value: value), nextLine(after: end))
  }

  private func plain(
    _ range: Range<Int>, _ comment: Int?
  ) -> @Sendable (Secret) -> PlaintextPart.Value? {
    if comment == range.lowerBound { return Self.ambiguous("could be a comment") }
    var hasOthers = false
    _ = transcode(
      bytes[range].makeIterator(), from: UTF8.self, to: UTF32.self, stoppingOnError: false
    ) { value in
      // Some readers cut off Unicode's other blanks and line ends, and others don't.
      let isWhitespace = Unicode.Scalar(value)?.properties.isWhitespace == true
      let isOther = isWhitespace && !" \t".unicodeScalars.contains { $0.value == value }
      if isOther || (0x1C...0x1F).contains(value) { hasOthers = true }
    }
    if hasOthers { return Self.ambiguous("has special blanks and no quotes") }
    return { (.text, $0[range]) }
  }

  private static func ambiguous(
    _ problem: String
  ) -> @Sendable (Secret) -> PlaintextPart.Value? {
    { _ in (.unusable(problem), Secret("")) }
  }

  private func quoted(
    _ range: Range<Int>, by quote: UInt8
  ) -> @Sendable (Secret) -> PlaintextPart.Value? {
    // Others keep the backslash, or drop it.
    let isEscaped = quote == UInt8(ascii: "\"")
    let unclear = (isEscaped ? "'$`abfv\n\r" : "\\'").utf8
    var position = range.lowerBound
    while position < range.upperBound {
      let isEscape = bytes[position] == Self.backslash
      if isEscape, position + 1 < range.upperBound, unclear.contains(bytes[position + 1]) {
        return Self.ambiguous("has escapes that readers understand in different ways")
      }
      position += isEscape && isEscaped ? 2 : 1
    }
    return { (.text, Self.text($0[range], hasEscapes: isEscaped)) }
  }

  /// Returns the text between quotes, with its escape sequences replaced, and line feeds as line ends.
  private static func text(_ quoted: Secret, hasEscapes: Bool) -> Secret {
    quoted.withUnsafeBytes { bytes in
      Secret(capacity: bytes.count) { room in
        var (rest, end) = (bytes[...], 0)
        while var byte = rest.popFirst() {
          if byte == UInt8(ascii: "\r") {
            if rest.first == UInt8(ascii: "\n") { continue }
            byte = UInt8(ascii: "\n")
          } else if hasEscapes, byte == backslash, let meaning = rest.first.flatMap({ escapes[$0] })
          {
            byte = meaning
            rest.removeFirst()
          }
          room[end] = byte
          end += 1
        }
        return end
      }
    }
  }

  /// Returns the name at the beginning of a line and the start of its value.
  private func name(at start: Int) -> (name: String, value: Int)? {
    var position = pastBlanks(from: start)
    let keyword = "export"
    let pastKeyword = position + keyword.utf8.count
    if bytes[position...].starts(with: keyword.utf8), let byte = byte(at: pastKeyword),
      isBlank(byte)
    {
      position = pastBlanks(from: pastKeyword)
    }
    let end = bytes[position...].firstIndex { !Self.isNamePart($0) } ?? bytes.count
    let equals = pastBlanks(from: end)
    guard end > position, byte(at: equals) == UInt8(ascii: "=") else { return nil }
    return (String(decoding: bytes[position..<end], as: UTF8.self), pastBlanks(from: equals + 1))
  }

  /// Returns the end of a value without quotes, and the start of the comment after it.
  private func plainEnd(from start: Int) -> (end: Int, comment: Int?) {
    let lineEnd = lineEnd(from: start)
    let comment = (start..<lineEnd).first { position in
      bytes[position] == UInt8(ascii: "#") && isBlank(bytes[position - 1])
    }
    var end = comment ?? lineEnd
    while end > start, isBlank(bytes[end - 1]) { end -= 1 }
    return (end, comment)
  }

  /// Returns the start of the comment or line after a closing quote, or `nil` if other text follows.
  private func endOfBlanks(from start: Int) -> Int? {
    let position = pastBlanks(from: start)
    guard let byte = byte(at: position) else { return position }
    if Self.lineEnds.contains(byte) { return nextLine(after: position) }
    // To some readers, a `#` right after the quote is part of the value.
    return byte == UInt8(ascii: "#") && position > start ? position : nil
  }

  private func isBlankLine(at start: Int) -> Bool {
    byte(at: pastBlanks(from: start))
      .map { $0 == UInt8(ascii: "#") || Self.lineEnds.contains($0) } ?? true
  }

  private func lineEnd(from position: Int) -> Int {
    bytes[position...].firstIndex { Self.lineEnds.contains($0) } ?? bytes.count
  }

  private func nextLine(after position: Int) -> Int {
    let end = lineEnd(from: position)
    let isPair = byte(at: end) == UInt8(ascii: "\r") && byte(at: end + 1) == UInt8(ascii: "\n")
    return min(end + (isPair ? 2 : 1), bytes.count)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber)
      || "_.-".contains(character)
  }
}
