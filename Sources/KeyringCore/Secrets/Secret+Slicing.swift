// SPDX-License-Identifier: Apache-2.0

extension Secret {
  /// Returns a copy of a range of the bytes.
  package subscript(range: Range<Int>) -> Secret {
    withUnsafeBytes { Secret(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// Returns a copy of the bytes without a range.
  package func removing(_ range: Range<Int>) -> Secret {
    withUnsafeBytes { bytes in
      Secret(capacity: count - range.count) { room in
        room.copyBytes(from: bytes[..<range.lowerBound])
        UnsafeMutableRawBufferPointer(rebasing: room[range.lowerBound...])
          .copyBytes(from: bytes[range.upperBound...])
        return room.count
      }
    }
  }
}
