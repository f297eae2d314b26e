// SPDX-License-Identifier: Apache-2.0

/// The bytes of a part of a URL, with each `%` and two hexadecimal digits replaced (RFC 3986).
///
/// As git does, this takes any other `%` literally. The bytes are never copied.
struct PercentDecoded<Base: RandomAccessCollection<UInt8>>: Collection {
  private let base: Base

  init(_ base: Base) { self.base = base }

  var startIndex: Base.Index { base.startIndex }
  var endIndex: Base.Index { base.endIndex }

  func index(after index: Base.Index) -> Base.Index {
    base.index(index, offsetBy: escaped(at: index) == nil ? 1 : 3)
  }

  subscript(index: Base.Index) -> UInt8 { escaped(at: index) ?? base[index] }

  private func escaped(at index: Base.Index) -> UInt8? {
    guard base[index] == UInt8(ascii: "%") else { return nil }
    let digits = base[index...].dropFirst().prefix(2)
      .compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    // Git doesn't decode a NUL.
    return digits.count == 2 && digits != [0, 0] ? UInt8(digits[0] << 4 | digits[1]) : nil
  }
}
