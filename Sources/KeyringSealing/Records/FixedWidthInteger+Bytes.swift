// SPDX-License-Identifier: Apache-2.0

#if Sealing
extension FixedWidthInteger {
  /// The bytes of the number, with the highest one first.
  package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

  package init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | Self($1) }
  }
}
#endif
