#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What tells a file, as it is now, from every other and from itself after a change.
///
/// A writer makes a new file, and the number of one that somebody has open is not given out again;
/// so device and number would do. Size and times are for what was changed in place, by a fault.
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

  /// Looks at the file at a path; `nil` when there is none.
  init?(at path: String) throws(FileFailure) {
    var status = stat()
    if lstat(path, &status) != 0 {
      if errno == ENOENT { return nil }
      throw FileFailure("cannot be found")
    }
    self.init(status)
  }
}
#endif
