// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// A value that is read from JSON in one go.
protocol JSONReadable {
  init(_ reader: inout JSONReader) throws(JSONReader.Malformed)
}

extension JSONReadable {
  /// Reads a whole document.
  init(json: [UInt8]) throws(JSONReader.Malformed) {
    var reader = JSONReader(json)
    try self.init(&reader)
    guard reader.next() == nil else { throw JSONReader.Malformed() }
  }
}

extension String: JSONReadable {
  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) { self = try reader.text() }
}

/// A reader that goes through JSON once, and takes only what it's asked for.
///
/// Foundation's decoder would make a dictionary of each object.
struct JSONReader {
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private var position = 0

  fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: - Objects and arrays

  /// Reads an object.
  ///
  /// - Parameter member: A closure that reads the value of a name, or leaves it to be skipped.
  /// - Throws: `Malformed` for anything else.
  mutating func object(
    _ member: (String, inout JSONReader) throws(Malformed) -> Void
  ) throws(Malformed) {
    try elements("{", "}") { (reader) throws(Malformed) in
      let name = try reader.text()
      try reader.take(":")
      guard let first = reader.next() else { throw Malformed() }
      let start = reader.position
      // A value that isn't there is the same as none.
      if first != UInt8(ascii: "n") { try member(name, &reader) }
      if reader.position == start { try reader.skip() }
    }
  }

  /// Reads an array.
  mutating func array<Element: JSONReadable>(
    of type: Element.Type = Element.self
  ) throws(Malformed) -> [Element] {
    var result: [Element] = []
    try elements("[", "]") { (reader) throws(Malformed) in result.append(try Element(&reader)) }
    return result
  }

  private mutating func elements(
    _ start: Unicode.Scalar, _ end: Unicode.Scalar,
    _ element: (inout JSONReader) throws(Malformed) -> Void
  ) throws(Malformed) {
    try take(start)
    var isFirst = true
    while next() != UInt8(ascii: end) {
      if !isFirst { try take(",") }
      isFirst = false
      try element(&self)
    }
    position += 1
  }

  // MARK: - Values

  mutating func bool() throws(Malformed) -> Bool {
    let value = next() == UInt8(ascii: "t")
    let word = value ? "true" : "false"
    guard bytes[position...].starts(with: word.utf8) else { throw Malformed() }
    position += word.utf8.count
    return value
  }

  /// Reads a number, which the gateway may write as a string.
  ///
  /// Each revision must have a next one. Only a time can be negative.
  mutating func integer(signed: Bool = false) throws(Malformed) -> Int64 {
    let isString = next() == UInt8(ascii: "\"")
    if isString { position += 1 }
    let isNegative = signed && next() == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let start = position
    var number: Int64 = 0
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
    {
      let (product, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = product.addingReportingOverflow(Int64(digit))
      if isLarge || isLarger { throw Malformed() }
      number = sum
      position += 1
    }
    guard position > start, number < .max else { throw Malformed() }
    if isString { try take("\"") }
    return isNegative ? -number : number
  }

  mutating func text() throws(Malformed) -> String {
    let (content, isEscaped) = try string()
    if !isEscaped { return String(decoding: bytes[content], as: UTF8.self) }
    let quoted = Data(bytes[content.lowerBound - 1...content.upperBound])
    guard let text = try? JSONDecoder().decode(String.self, from: quoted) else { throw Malformed() }
    return text
  }

  /// Reads bytes that are written in base64.
  mutating func data() throws(Malformed) -> [UInt8] {
    let start = position
    let (content, isEscaped) = try string()
    if isEscaped { position = start }
    let text = isEscaped ? Array(try text().utf8)[...] : bytes[content]
    guard let data = [UInt8](base64: text) else { throw Malformed() }
    return data
  }

  /// Skips a string, and returns the place of its content, and `true` for content that needs decoding.
  private mutating func string() throws(Malformed) -> (Range<Int>, isEscaped: Bool) {
    try take("\"")
    let start = position
    guard let end = place(of: "\"", from: start, to: bytes.count) else { throw Malformed() }
    position = end
    let isEscaped = place(of: "\\", from: start, to: end) != nil
    if isEscaped {
      // The quotation mark may belong to the content.
      position = start
      while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
        position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard position < bytes.count else { throw Malformed() }
    }
    defer { position += 1 }
    return (start..<position, isEscaped)
  }

  private func place(of character: Unicode.Scalar, from start: Int, to end: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      let part = bytes[start..<end]
      guard let first = UnsafeRawBufferPointer(rebasing: part).baseAddress else { return nil }
      return memchr(first, Int32(character.value), part.count).map {
        start + (UnsafeRawPointer($0) - first)
      }
    }
  }

  /// Skips a value of any kind, of which only the depth is checked.
  private mutating func skip() throws(Malformed) {
    var depth = 0
    repeat {
      switch next() {
      case UInt8(ascii: "\""): _ = try string()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        position += 1
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        position += 1
        depth -= 1
        if depth < 0 { throw Malformed() }
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        if depth == 0 { throw Malformed() }
        position += 1
      case nil: throw Malformed()
      default:
        // A number, or a word.
        while let byte = next(), !"\"{}[],:".utf8.contains(byte) { position += 1 }
      }
    } while depth > 0
  }

  // MARK: - Characters

  /// Looks at the next character other than space.
  fileprivate mutating func next() -> UInt8? {
    while position < bytes.count {
      let byte = bytes[position]
      if byte > 0x20 { return byte }
      position += 1
    }
    return nil
  }

  private mutating func take(_ character: Unicode.Scalar) throws(Malformed) {
    guard next() == UInt8(ascii: character) else { throw Malformed() }
    position += 1
  }
}
#endif
