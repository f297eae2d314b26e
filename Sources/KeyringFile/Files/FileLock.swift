// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringStorage

internal import KeyringPlatform

/// The lock that keeps the writers of a file apart, threads as well as processes.
///
/// Closing its file releases the lock. The system also does that for a killed process.
struct FileLock {
  private let file: OpenFile
  private let path: String

  /// Takes the lock, or returns `nil` as long as another writer has it.
  ///
  /// - Parameters:
  ///   - path: The path of the file that writers lock.
  ///   - content: The path of the file that they write.
  /// - Throws: `FileFailure` for any other reason.
  init?(at path: String, for content: String) throws(FileFailure) {
    self.path = path
    do throws(FileFailure) {
      file = try Self.open(path, for: content)
      if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EWOULDBLOCK || errno == EINTR { return nil }
        throw FileFailure("can't be locked for writing")
      }
      guard try isHeld() else { return nil }
    } catch {
      throw FileFailure("can't be locked for writing", number: error.number)
    }
  }

  /// Returns `true` for a lock that still keeps others out.
  ///
  /// Someone may have removed the lock file, and another writer may have created and locked a new one.
  func isHeld() throws(FileFailure) -> Bool {
    try FileIdentity(at: path) == FileIdentity(file.status())
  }

  /// Opens the lock file, or creates it for the owner of the file.
  private static func open(_ lock: String, for path: String) throws(FileFailure) -> OpenFile {
    while true {
      do throws(FileFailure) {
        // The file of a user can be written by root, who must not lock the user out. The directory may belong to
        // the user, who must not be given a file that was there before.
        let new = try OpenFile(lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        var owner = stat()
        guard geteuid() == 0, lstat(path, &owner) == 0, owner.st_mode & S_IFMT == S_IFREG,
          owner.st_uid != 0
        else { return new }
        guard fchown(new.descriptor, owner.st_uid, owner.st_gid) == 0 else {
          unlink(lock)
          throw FileFailure("can't be locked for writing")
        }
        return new
      } catch {
        if error.number != EEXIST { throw error }
      }
      do throws(FileFailure) {
        let there = try OpenFile(lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        _ = try there.regularStatus(atMost: .max)
        return there
      } catch {
        // Someone may have removed it in between.
        if error.number != ENOENT { throw error }
      }
    }
  }
}
#endif
