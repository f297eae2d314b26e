// SPDX-License-Identifier: Apache-2.0

#if Sealing
extension FixedWidthInteger where Self: UnsignedInteger {
  /// The number with all of its digits to the base 16.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}

extension Collection<UInt8> {
  /// The bytes as digits to the base 16.
  package var hexadecimal: String { map(\.hexadecimal).joined() }
}
#endif
