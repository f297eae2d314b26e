// SPDX-License-Identifier: Apache-2.0

package import KeyringPlatform

/// The identity of a file, which differs from that of any other file and changes with the file.
///
/// A storage whose writes make new files keeps the last one open, which reserves its number. The device and
/// the number would then be enough. The size and the times, in nanoseconds, detect a file that was changed in
/// place.
package struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64
  private let size: Int64
  private let modified: Time
  private let changed: Time

  private struct Time: Equatable, Sendable {
    let seconds: Int
    let nanoseconds: Int

    init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }
  }

  /// Creates the identity of the file with a status.
  ///
  /// - Parameter status: The status of the file.
  package init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(status.st_ino)
    size = Int64(status.st_size)
    (modified, changed) = (Time(status.modification), Time(status.change))
  }

  /// Reads the identity of the file at a path, or returns `nil` for a missing one.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: Any other failure to find the file.
  package init?(at path: String) throws(FileFailure) {
    var status = stat()
    // A call with the `String` itself would copy it.
    if path.withCString({ lstat($0, &status) }) != 0 {
      if errno == ENOENT { return nil }
      throw FileFailure("can't be found")
    }
    self.init(status)
  }

  /// Returns `true` for the identity of the same file, changed or not.
  ///
  /// - Parameter other: The other identity.
  /// - Returns: `true` for the same file.
  package func isOfSameFile(as other: FileIdentity) -> Bool {
    device == other.device && number == other.number
  }
}
