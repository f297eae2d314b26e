// SPDX-License-Identifier: Apache-2.0

/// A type that finds parts of a text by their positions.
protocol TextScanner {
  /// The bytes that separate parts.
  static var blanks: [UInt8] { get }
  var bytes: UnsafeRawBufferPointer { get }
}

extension TextScanner {
  /// The start of the text, after a byte order mark, which stays in the file.
  var start: Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  func byte(at position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

  func isBlank(_ byte: UInt8) -> Bool { Self.blanks.contains(byte) }

  func pastBlanks(from start: Int) -> Int {
    var position = start
    while let byte = byte(at: position), isBlank(byte) { position += 1 }
    return position
  }

  /// Returns the position of the quote that ends a text, or `nil` if there is none.
  func closing(_ quote: UInt8, from start: Int) -> Int? {
    var position = start
    while let byte = byte(at: position) {
      if byte == quote { return position }
      // A backslash escapes only between double quotes.
      position += byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") ? 2 : 1
    }
    return nil
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the number of the line at a position, which isn't before the last one.
  func line(at position: Int, after last: (position: Int, line: Int) = (0, 1)) -> Int {
    // A pair of both ends one line.
    (last.position..<position).count { position in
      self[position] == UInt8(ascii: "\r")
        || self[position] == UInt8(ascii: "\n")
          && (position == 0 || self[position - 1] != UInt8(ascii: "\r"))
    } + last.line
  }
}
