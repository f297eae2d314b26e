// SPDX-License-Identifier: Apache-2.0

#if Sealing
package import KeyringStorage

/// A writer that puts values into memory one after another, or only counts the bytes that they need.
///
/// Integers are written with the highest byte first. Text is written as UTF-8, after the number of bytes.
package struct ByteWriter {
  private let room: UnsafeMutableRawBufferPointer?
  /// The number of bytes written so far.
  package private(set) var count = 0

  fileprivate init(_ room: UnsafeMutableRawBufferPointer? = nil) { self.room = room }

  package mutating func write(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.bigEndian) { write(bytes: $0) }
  }

  package mutating func write(bytes: UnsafeRawBufferPointer) {
    if let room { UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes) }
    count += bytes.count
  }

  package mutating func write(text: String) {
    var text = text
    write(UInt32(text.utf8.count))
    text.withUTF8 { write(bytes: UnsafeRawBufferPointer($0)) }
  }

  package mutating func write(attributes: [String: String]) {
    write(UInt32(attributes.count))
    for (name, value) in attributes {
      write(text: name)
      write(text: value)
    }
  }
}

extension Secret {
  /// Creates a secret in place from values.
  ///
  /// - Parameter write: A closure that writes the values. It's called once to count the bytes, and once more
  ///   to write them.
  package init(writing write: (inout ByteWriter) -> Void) {
    var counter = ByteWriter()
    write(&counter)
    self.init(capacity: counter.count) { room in
      var writer = ByteWriter(room)
      write(&writer)
      return writer.count
    }
  }
}
#endif
