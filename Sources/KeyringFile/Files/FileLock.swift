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
      file = try .beside(content, at: path)
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
}
#endif
