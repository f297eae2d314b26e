// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringStorage

internal import KeyringLibc

/// The identity of a file, which differs from that of any other file and changes with the file.
///
/// Each write makes a new file, and the number of an open file isn't reused, so the device and the number
/// would be enough. The size and the times detect a file that was changed in place by a fault.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64
  private let size: Int64
  private let times: [Int]

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(status.st_ino)
    size = Int64(status.st_size)
    #if canImport(Darwin)
    let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
    let (modified, changed) = (status.st_mtim, status.st_ctim)
    #endif
    times = [modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec]
  }

  /// Reads the identity of the file at a path, or returns `nil` if there is none.
  init?(at path: String) throws(FileFailure) {
    var status = stat()
    if lstat(path, &status) != 0 {
      if errno == ENOENT { return nil }
      throw FileFailure("can't be found")
    }
    self.init(status)
  }
}
#endif
