#if EncryptedFile
/// Puts values into memory one behind the other, or only counts the bytes that they take.
///
/// Integers have their highest byte first. Text is its UTF-8, behind the number of bytes.
struct ByteWriter {
  private let room: UnsafeMutableRawBufferPointer?
  /// How many bytes were written.
  private(set) var count = 0

  init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

  init(counting: Void) { room = nil }

  mutating func write(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.bigEndian) { write(bytes: $0) }
  }

  mutating func write(bytes: UnsafeRawBufferPointer) {
    if let room { UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes) }
    count += bytes.count
  }

  mutating func write(text: String) {
    var text = text
    write(UInt32(text.utf8.count))
    text.withUTF8 { write(bytes: UnsafeRawBufferPointer($0)) }
  }

  mutating func write(attributes: [String: String]) {
    write(UInt32(attributes.count))
    for (name, value) in attributes {
      write(text: name)
      write(text: value)
    }
  }
}
#endif
