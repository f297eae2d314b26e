// SPDX-License-Identifier: Apache-2.0

#if Sealing
extension Collection<UInt8> {
  /// The bytes as digits to the base 16.
  package var hexadecimal: String {
    String(unsafeUninitializedCapacity: 2 * count) { text in
      func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 48 : 87) }
      var end = 0
      for byte in self {
        (text[end], text[end + 1]) = (digit(byte >> 4), digit(byte & 15))
        end += 2
      }
      return end
    }
  }
}
#endif
