// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringStorage

/// A reader of values that ``ByteWriter`` has written, which never reads beyond the end.
package struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  package private(set) var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  package mutating func integer<Integer: FixedWidthInteger>() throws(MalformedRecord) -> Integer {
    let range = try skip(MemoryLayout<Integer>.size)
    return Integer(
      bigEndian: bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: Integer.self))
  }

  /// Skips bytes that follow their count, and returns their range.
  package mutating func skippedBytes() throws(MalformedRecord) -> Range<Int> {
    let count: UInt32 = try integer()
    return try skip(Int(count))
  }

  package mutating func text() throws(MalformedRecord) -> String {
    let range = try skippedBytes()
    guard let text = String(utf8: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
      throw MalformedRecord()
    }
    return text
  }

  package mutating func attributes() throws(MalformedRecord) -> [String: String] {
    let count: UInt32 = try integer()
    if count == 0 { return [:] }
    // Each has two counts, so a wrong number takes little memory.
    let most = (bytes.count - position) / (2 * MemoryLayout<UInt32>.size)
    var attributes = [String: String](minimumCapacity: min(Int(count), most))
    for _ in 0..<count {
      let name = try text()
      guard attributes.updateValue(try text(), forKey: name) == nil else {
        throw MalformedRecord()
      }
    }
    return attributes
  }

  package mutating func skip(_ count: Int) throws(MalformedRecord) -> Range<Int> {
    guard count <= bytes.count - position else { throw MalformedRecord() }
    defer { position += count }
    return position..<(position + count)
  }
}
#endif
