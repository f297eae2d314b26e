// SPDX-License-Identifier: Apache-2.0

extension Secret {
  /// Returns a copy of a range of the bytes.
  package subscript(range: Range<Int>) -> Secret {
    withUnsafeBytes { Secret(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }
}
