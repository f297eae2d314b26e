// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

// Swift treats "e" with a combining accent and the single character for both as equal strings. Keyrings
// treat them as different, so every storage must do the same. Text isn't normalized.

extension String {
  /// Returns `true` if two strings have the same bytes.
  ///
  /// - Parameter other: The other string.
  /// - Returns: `true` if the bytes are the same.
  package func hasSameBytes(_ other: String) -> Bool {
    // Comparing contiguous bytes takes a tenth of the time of comparing the views.
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { bytes in
      unsafe other.utf8.withContiguousStorageIfAvailable { others in
        unsafe UnsafeRawBufferPointer(bytes).hasSameBytes(UnsafeRawBufferPointer(others))
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

extension UnsafeRawBufferPointer {
  /// Returns `true` if two buffers have the same bytes.
  ///
  /// This takes a tenth of the time of comparing each byte.
  ///
  /// - Parameter other: The other bytes.
  /// - Returns: `true` if the bytes are the same.
  package func hasSameBytes(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return unsafe memcmp(left, right, count) == 0
  }
}
