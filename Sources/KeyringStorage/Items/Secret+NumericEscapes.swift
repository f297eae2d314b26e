// SPDX-License-Identifier: Apache-2.0

extension Secret {
  /// Returns the same JSON with `\u000a` instead of `\n`, and so on.
  ///
  /// gnome-keyring (42 to 50) keeps a collection without a password in a text file. When it reads the file,
  /// it mistakes the escapes in our JSON for its own.
  func withNumericEscapes() -> Secret {
    withUnsafeBytes { json in
      var count = 0
      Self.replaceEscapes(in: json) { _ in count += 1 }
      return Secret(capacity: count) { room in
        var end = 0
        Self.replaceEscapes(in: json) { byte in
          room[end] = byte
          end += 1
        }
        return end
      }
    }
  }

  /// Calls a closure with each byte of the JSON with numeric escapes.
  private static func replaceEscapes(
    in json: UnsafeRawBufferPointer, _ write: (UInt8) -> Void
  ) {
    var bytes = json.makeIterator()
    while let byte = bytes.next() {
      write(byte)
      guard byte == UInt8(ascii: "\\"), let escaped = bytes.next() else { continue }
      switch escaped {
      case UInt8(ascii: "n"): "u000a".utf8.forEach(write)
      case UInt8(ascii: "r"): "u000d".utf8.forEach(write)
      case UInt8(ascii: "t"): "u0009".utf8.forEach(write)
      case UInt8(ascii: "\\"): "u005c".utf8.forEach(write)
      default: write(escaped)
      }
    }
  }
}
