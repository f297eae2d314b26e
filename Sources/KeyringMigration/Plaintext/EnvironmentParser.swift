// SPDX-License-Identifier: Apache-2.0

/// A parser that finds the variables of an environment file and their ranges.
///
/// It refuses what the common readers of such files understand in different ways.
struct EnvironmentParser: TextScanner {
  static let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
  private static let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
  private static let backslash = UInt8(ascii: "\\")

  /// Unicode's other blanks and line ends, in UTF-8, which some readers cut off and others don't.
  private static let otherBlanks: [[UInt8]] =
    ([0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x1F, 0x85, 0xA0, 0x1680] + Array(0x2000...0x200A)
    + [0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
    .compactMap { UnicodeScalar($0 as UInt32).map { Array(String($0).utf8) } }

  let bytes: UnsafeRawBufferPointer

  /// Returns the variables.
  ///
  /// - Throws: `PlaintextFormatError` with the number of a line that isn't `NAME=value`. The lines after it may
  ///   belong to its value.
  func lines() throws(PlaintextFormatError) -> [EnvironmentLine] {
    var lines: [EnvironmentLine] = []
    var (position, number) = (start, 1)
    while position < bytes.count {
      let next: Int
      if isBlankLine(at: position) {
        next = nextLine(after: position)
      } else {
        let line = try line(at: position, number)
        lines.append(line.assignment)
        next = line.next
      }
      number += lineEnds(from: position, to: next)
      position = next
    }
    return lines
  }

  /// Returns the variable that a line sets, and the start of the next line.
  private func line(
    at start: Int, _ number: Int
  ) throws(PlaintextFormatError) -> (assignment: EnvironmentLine, next: Int) {
    guard let (name, valueStart) = name(at: start) else {
      throw PlaintextFormatError("Line \(number) isn't NAME=value.")
    }
    func line(_ value: EnvironmentLine.Value, to end: Int) -> EnvironmentLine {
      EnvironmentLine(name: name, value: value, range: start..<end)
    }
    let quote = byte(at: valueStart)
    guard let quote, [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`")].contains(quote)
    else {
      let next = nextLine(after: valueStart)
      let (end, comment) = plainEnd(from: valueStart)
      // Some readers continue the value on the next line.
      if end > valueStart, bytes[end - 1] == Self.backslash {
        throw PlaintextFormatError(
          "The value of \"\(name)\" on line \(number) ends with a backslash.")
      }
      return (line(plain(valueStart..<end, comment), to: comment ?? next), next)
    }
    // Some readers treat a backtick as a quote, and others as part of the value. Some take a quote after two
    // backslashes for an escaped one.
    guard quote != UInt8(ascii: "`"), let end = closing(quote, from: valueStart + 1),
      bytes[end - 1] != Self.backslash, let rest = endOfBlanks(from: end + 1)
    else {
      throw PlaintextFormatError(
        "The value of \"\(name)\" on line \(number) has misplaced quotes.")
    }
    let value = quoted(valueStart + 1..<end, by: quote)
    return (line(value, to: rest), nextLine(after: end))
  }

  private func plain(_ range: Range<Int>, _ comment: Int?) -> EnvironmentLine.Value {
    if comment == range.lowerBound { return .ambiguous("could be a comment") }
    let hasOthers = range.contains { position in
      // Most bytes begin no such blank.
      !(UInt8(ascii: " ")...UInt8(ascii: "~")).contains(bytes[position])
        && Self.otherBlanks.contains { bytes[position..<range.upperBound].starts(with: $0) }
    }
    return hasOthers ? .ambiguous("has special blanks and no quotes") : .plain(range)
  }

  private func quoted(_ range: Range<Int>, by quote: UInt8) -> EnvironmentLine.Value {
    // Others keep the backslash, or drop it.
    let isEscaped = quote == UInt8(ascii: "\"")
    let unclear = (isEscaped ? "'$`abfv\n\r" : "\\'").utf8
    var position = range.lowerBound
    while position < range.upperBound {
      let isEscape = bytes[position] == Self.backslash
      if isEscape, position + 1 < range.upperBound, unclear.contains(bytes[position + 1]) {
        return .ambiguous("has escapes that readers understand in different ways")
      }
      position += isEscape && isEscaped ? 2 : 1
    }
    return .quoted(range, hasEscapes: isEscaped)
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

  private func lineEnds(from start: Int, to end: Int) -> Int {
    var (position, count) = (nextLine(after: start), 1)
    while position < end {
      position = nextLine(after: position)
      count += 1
    }
    return count
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber)
      || "_.-".contains(character)
  }
}
