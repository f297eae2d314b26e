// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

/// A file of the system that's at most one page long, as described in proc(5).
package enum ProcFile {
  /// Returns the text of a file.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The text, or `nil` for an unreadable file.
  package static func text(_ path: String) -> String? {
    guard let file = try? OpenFile.reading(path) else { return nil }
    return text { address, size in read(file.descriptor, address, size) }
  }

  /// Returns the target of a symbolic link.
  ///
  /// - Parameter path: The path of the link.
  /// - Returns: The target, or `nil` for an unreadable link.
  package static func link(_ path: String) -> String? {
    text { address, size in readlink(path, address, size) }
  }

  private static func text(
    _ fill: (UnsafeMutableRawPointer, Int) -> Int
  ) -> String? {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      guard let address = buffer.baseAddress else { return nil }
      let count = fill(address, buffer.count)
      return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
}
#endif
