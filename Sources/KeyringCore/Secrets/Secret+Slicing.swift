// SPDX-License-Identifier: Apache-2.0

extension Secret {
  /// Returns a copy of a range of the bytes.
  package subscript(range: Range<Int>) -> Secret {
    withBytes { Secret(copying: $0.extracting(range)) }
  }
}
