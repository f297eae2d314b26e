// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A scanner that finds the ranges of the parts of a valid JSON text.
struct JSONScanner: TextScanner {
  struct Member {
    let name: String
    let value: Range<Int>
    /// The range to cut out to remove the member, including the comma after it if there is one.
    let range: Range<Int>
    /// The end of the value before it, or its own start.
    let endOfPrevious: Int
    /// Whether no comma follows.
    let isLast: Bool
  }

  static let blanks = [" ", "\t", "\n", "\r"].map(UInt8.init(ascii:))

  let bytes: UnsafeRawBufferPointer

  /// The start of the top-level value.
  var root: Int { pastBlanks(from: start) }

  /// Returns the members of an object, or `nil` if the value isn't an object.
  func members(ofObjectAt start: Int) -> [Member]? {
    guard byte(at: start) == UInt8(ascii: "{") else { return nil }
    var members: [Member] = []
    var previousEnd: Int?
    var position = pastBlanks(from: start + 1)
    while byte(at: position) == UInt8(ascii: "\"") {
      let (nameStart, nameEnd) = (position, endOfString(at: position))
      let value = valueRange(at: pastBlanks(from: pastBlanks(from: nameEnd) + 1))
      let delimiter = pastBlanks(from: value.upperBound)
      let hasNext = byte(at: delimiter) == UInt8(ascii: ",")
      position = hasNext ? pastBlanks(from: delimiter + 1) : delimiter
      // Skip a name that isn't valid text, such as half a surrogate pair. No path can name it.
      if let name = name(nameStart..<nameEnd) {
        members.append(
          Member(
            name: name, value: value,
            range: nameStart..<(hasNext ? position : value.upperBound),
            endOfPrevious: previousEnd ?? nameStart, isLast: !hasNext))
      }
      previousEnd = value.upperBound
    }
    return members
  }

  private func name(_ range: Range<Int>) -> String? {
    let quoted = UnsafeRawBufferPointer(rebasing: bytes[range])
    // Only an escape sequence needs a decoder.
    return quoted.contains(UInt8(ascii: "\\"))
      ? Secret(copying: quoted).decoded(as: String.self)
      : String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
  }

  private func valueRange(at start: Int) -> Range<Int> {
    var position = start
    var depth = 0
    while let byte = byte(at: position) {
      switch byte {
      case UInt8(ascii: "\""):
        position = endOfString(at: position)
        if depth == 0 { return start..<position }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        // This ends the object or array that contains the number.
        if depth == 0 { return start..<position }
        depth -= 1
        if depth == 0 { return start..<position + 1 }
      case UInt8(ascii: ",") where depth == 0: return start..<position
      case _ where depth == 0 && isBlank(byte): return start..<position
      default: break
      }
      position += 1
    }
    return start..<position
  }

  private func endOfString(at start: Int) -> Int {
    (closing(UInt8(ascii: "\""), from: start + 1) ?? bytes.count - 1) + 1
  }
}
