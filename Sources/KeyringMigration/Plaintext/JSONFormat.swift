// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A JSON object, in which a path consists of the names of members.
enum JSONFormat {
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  @Sendable static func parts(
    of content: Secret
  ) throws(PlaintextFormatError) -> [PlaintextPart] {
    // The scanner relies on valid JSON.
    guard content.isUTF8, content.decoded(as: Anything.self) != nil else {
      throw PlaintextFormatError("The file isn't JSON.")
    }
    return try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      var scanner = JSONScanner(content: content, bytes: bytes)
      guard scanner.isObject(at: scanner.root) else {
        throw PlaintextFormatError("The file isn't a JSON object.")
      }
      _ = scanner.addMembers(ofObjectAt: scanner.root, [])
      return scanner.parts
    }
  }
}

/// A scanner that goes through valid JSON once, and finds the ranges of its members.
///
/// Decoded and encoded again, the rest of a file would lose its order, its blanks and the form of its numbers.
private struct JSONScanner: TextScanner {
  static let blanks = [" ", "\t", "\n", "\r"].map(UInt8.init(ascii:))

  let content: Secret
  let bytes: UnsafeRawBufferPointer
  private(set) var parts: [PlaintextPart] = []

  init(content: Secret, bytes: UnsafeRawBufferPointer) {
    (self.content, self.bytes) = (content, bytes)
  }

  /// The start of the top-level value.
  var root: Int { pastBlanks(from: start) }

  func isObject(at start: Int) -> Bool { byte(at: start) == UInt8(ascii: "{") }

  /// Adds the members of an object, each before those that are in it, and returns the end of the object.
  mutating func addMembers(ofObjectAt start: Int, _ path: [String]) -> Int {
    var previousEnd: Int?
    var position = pastBlanks(from: start + 1)
    while byte(at: position) == UInt8(ascii: "\"") {
      let (nameStart, nameEnd) = (position, endOfString(at: position))
      let (index, name) = (parts.count, name(nameStart..<nameEnd))
      parts.append(PlaintextPart(path: path + [name ?? ""], range: nameStart..<nameEnd))
      let value = addValue(at: pastBlanks(from: pastBlanks(from: nameEnd) + 1), index)
      let delimiter = pastBlanks(from: value.upperBound)
      parts[index].isLast = byte(at: delimiter) != UInt8(ascii: ",")
      position = parts[index].isLast ? delimiter : pastBlanks(from: delimiter + 1)
      parts[index].range = nameStart..<(parts[index].isLast ? value.upperBound : position)
      parts[index].endOfPrevious = previousEnd ?? nameStart
      previousEnd = value.upperBound
      // A name that isn't valid text, such as half a surrogate pair, can't be in a path.
      if name == nil { parts.removeSubrange(index...) }
    }
    return position + 1
  }

  /// Sets the value of a part, adds the members in the value, and returns the range of the value.
  private mutating func addValue(at start: Int, _ index: Int) -> Range<Int> {
    guard isObject(at: start) else {
      let range = start..<endOfValue(at: start)
      parts[index].value = { Self.value($0[range]) }
      return range
    }
    let range = start..<addMembers(ofObjectAt: start, parts[index].path)
    let isCredential =
      parts.count == index + 3 && content[range].decoded(as: ExternalCredential.self) != nil
    for index in isCredential ? index + 1..<parts.count : index..<index + 1 {
      parts[index].isListed = false
    }
    parts[index].isObject = true
    parts[index].value = { (isCredential ? .credential : .json, $0[range]) }
    return range
  }

  private static func value(_ json: Secret) -> PlaintextPart.Value? {
    if json == Secret("null") { return nil }
    guard json.withUnsafeBytes({ $0.first }) == UInt8(ascii: "\"") else { return (.json, json) }
    return json.decoded(as: String.self).map { (.text, Secret($0)) }
      ?? (.unusable("isn't text"), Secret(""))
  }

  private func name(_ range: Range<Int>) -> String? {
    let quoted = UnsafeRawBufferPointer(rebasing: bytes[range])
    // Only an escape sequence needs a decoder.
    return quoted.contains(UInt8(ascii: "\\"))
      ? Secret(copying: quoted).decoded(as: String.self)
      : String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
  }

  /// Returns the end of a value, whose members have no names if it's an array.
  private func endOfValue(at start: Int) -> Int {
    var (position, depth) = (start, 0)
    while let byte = byte(at: position) {
      if depth == 0, ",]}".utf8.contains(byte) || isBlank(byte) { break }
      switch byte {
      case UInt8(ascii: "\""):
        position = endOfString(at: position)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      position += 1
    }
    return position
  }

  private func endOfString(at start: Int) -> Int {
    (closing(UInt8(ascii: "\""), from: start + 1) ?? bytes.count - 1) + 1
  }
}
