// SPDX-License-Identifier: Apache-2.0

/// A parser that finds the variables of an environment file and their ranges.
struct EnvironmentParser: TextScanner {
  static let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]

  let bytes: UnsafeRawBufferPointer

  var lines: [EnvironmentLine] {
    var lines: [EnvironmentLine] = []
    var start = start
    while start < bytes.count {
      let line = line(at: start)
      if let line = line.assignment { lines.append(line) }
      start = line.next
    }
    return lines
  }

  /// Returns the variable that a line sets, if any, and the start of the next line.
  private func line(at start: Int) -> (assignment: EnvironmentLine?, next: Int) {
    let next = nextLine(after: start)
    guard let (name, valueStart) = name(at: start) else { return (nil, next) }
    let quote = byte(at: valueStart)
    guard let quote, [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`")].contains(quote)
    else {
      let (end, comment) = plainEnd(from: valueStart)
      let range = start..<(comment ?? next)
      // Some readers continue the value on the next line.
      if end > valueStart, bytes[end - 1] == UInt8(ascii: "\\") {
        return (EnvironmentLine(name: name, value: .malformed, range: start..<next), next)
      }
      return (EnvironmentLine(name: name, value: .literal(valueStart..<end), range: range), next)
    }
    // Some readers treat a backtick as a quote, and others as part of the value.
    guard quote != UInt8(ascii: "`"), let end = closing(quote, from: valueStart + 1),
      let rest = blankRest(from: end + 1)
    else { return (EnvironmentLine(name: name, value: .malformed, range: start..<next), next) }
    let content = valueStart + 1..<end
    return (
      EnvironmentLine(
        name: name, value: quote == UInt8(ascii: "\"") ? .escaped(content) : .literal(content),
        range: start..<rest),
      nextLine(after: end)
    )
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
    let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let comment = (start..<lineEnd).first { position in
      bytes[position] == UInt8(ascii: "#") && isBlank(bytes[position - 1])
    }
    var end = comment ?? lineEnd
    while end > start, isBlank(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return (end, comment)
  }

  /// Returns the start of the comment or line after a closing quote, or `nil` if other text follows.
  private func blankRest(from start: Int) -> Int? {
    let position = pastBlanks(from: start)
    // To some readers, a `#` right after the quote is part of the value.
    if position == start, byte(at: position) == UInt8(ascii: "#") { return nil }
    switch byte(at: position) {
    case nil, UInt8(ascii: "#"), UInt8(ascii: "\n"):
      return byte(at: position) == UInt8(ascii: "\n") ? position + 1 : position
    case UInt8(ascii: "\r"):
      return byte(at: position + 1).map { $0 == UInt8(ascii: "\n") } ?? true
        ? min(position + 2, bytes.count) : nil
    default: return nil
    }
  }

  private func nextLine(after position: Int) -> Int {
    (bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count - 1) + 1
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber)
      || "_.-".contains(character)
  }
}
