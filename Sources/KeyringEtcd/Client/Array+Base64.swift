// SPDX-License-Identifier: Apache-2.0

#if Etcd
extension [UInt8] {
  /// Decodes base64 with its padding, or returns `nil` for another text.
  ///
  /// Foundation takes `Data` and returns `Data`, which costs more than the decoding itself.
  init?(base64 text: ArraySlice<UInt8>) {
    guard text.count.isMultiple(of: 4) else { return nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    /// The bits of all values, of which a valid one has only the lower six.
    var all: UInt32 = 0
    self.init(unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, count in
      func append(_ group: (UInt32, UInt32, UInt32, UInt32)) {
        all |= group.0 | group.1 | group.2 | group.3
        let bits = group.0 << 18 | group.1 << 12 | group.2 << 6 | group.3
        bytes[count] = UInt8(truncatingIfNeeded: bits >> 16)
        bytes[count + 1] = UInt8(truncatingIfNeeded: bits >> 8)
        bytes[count + 2] = UInt8(truncatingIfNeeded: bits)
        count += 3
      }
      Self.base64Values.withUnsafeBufferPointer { values in
        text.withUnsafeBufferPointer { text in
          func value(_ index: Int) -> UInt32 { values[Int(text[index])] }
          let whole = padding > 0 ? text.count - 4 : text.count
          for start in stride(from: 0, to: whole, by: 4) {
            append((value(start), value(start + 1), value(start + 2), value(start + 3)))
          }
          if padding > 0 {
            append((value(whole), value(whole + 1), padding > 1 ? 0 : value(whole + 2), 0))
          }
        }
      }
      count -= padding
    }
    if all >= 64 { return nil }
  }

  /// The values of all characters, of which only those below 64 are valid.
  private static let base64Values: [UInt32] = {
    var values = [UInt32](repeating: .max, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt32(value) }
    return values
  }()
}
#endif
