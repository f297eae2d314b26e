/// Finds out where in a valid JSON text its parts are.
struct JSONScanner {
  struct Member {
    let name: String
    let value: Range<Int>
    /// What to cut out to remove the member: it and one comma, if there is one.
    let range: Range<Int>
  }

  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Where the value begins that the text consists of.
  var root: Int { pastBlanks(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }

  /// The members of an object; `nil` if it is something else.
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
      // With the comma behind it; the last one, with the comma before it.
      let range = hasNext ? nameStart..<position : (previousEnd ?? nameStart)..<value.upperBound
      let name = Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[nameStart..<nameEnd]))
      // What is no text, such as half a surrogate pair, is not what anybody asks for.
      if let name = name.decoded(as: String.self) {
        members.append(Member(name: name, value: value, range: range))
      }
      previousEnd = value.upperBound
    }
    return members
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
        // The end of what a number is in.
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
    var position = start + 1
    while let byte = byte(at: position), byte != UInt8(ascii: "\"") {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(position + 1, bytes.count)
  }

  private func pastBlanks(from start: Int) -> Int {
    var position = start
    while let byte = byte(at: position), isBlank(byte) { position += 1 }
    return position
  }

  private func byte(at position: Int) -> UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
  }
}
