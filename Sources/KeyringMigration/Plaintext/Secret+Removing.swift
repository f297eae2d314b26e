// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension Secret {
  /// Returns a copy of the bytes without some ranges, which may overlap.
  func removing(_ ranges: [Range<Int>]) -> Secret {
    withUnsafeBytes { bytes in
      Secret(capacity: count) { room in
        var (start, end) = (0, 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) + [count..<count] {
          if start < range.lowerBound {
            let kept = bytes[start..<range.lowerBound]
            UnsafeMutableRawBufferPointer(rebasing: room[end...]).copyBytes(from: kept)
            end += kept.count
          }
          start = max(start, range.upperBound)
        }
        return end
      }
    }
  }
}
