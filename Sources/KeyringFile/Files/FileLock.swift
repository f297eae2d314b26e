// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringStorage

internal import KeyringLibc

/// The lock that keeps the writers of a file apart, threads as well as processes.
///
/// Closing its file releases the lock. The system also does that if the process is killed.
struct FileLock {
  private let file: OpenFile
  private let path: String

  /// Takes the lock, or returns `nil` if another writer has it.
  init?(taking place: FileLocation) throws(FileFailure) {
    path = place.lockPath
    do throws(FileFailure) {
      file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
      try giveToOwner(of: place.path)
      if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EWOULDBLOCK || errno == EINTR { return nil }
        throw FileFailure("can't be locked for writing")
      }
      guard try isHeld() else { return nil }
    } catch {
      throw FileFailure("can't be locked for writing", number: error.number)
    }
  }

  /// Returns `true` if the lock still keeps others out.
  ///
  /// Someone may have removed the lock file, and another writer may have created and locked a new one.
  func isHeld() throws(FileFailure) -> Bool {
    try FileIdentity(at: path) == FileIdentity(file.status())
  }

  /// Gives the lock file to the owner of the file.
  ///
  /// Root can write the file of a user, and that must not lock the user out.
  private func giveToOwner(of path: String) throws(FileFailure) {
    var owner = stat()
    guard geteuid() == 0, lstat(path, &owner) == 0 else { return }
    let status = try file.status()
    if status.st_uid == owner.st_uid { return }
    // The directory may belong to the user, who must not be given a file that has another name elsewhere.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw FileFailure("can't be locked for writing", number: EMLINK)
    }
    guard fchown(file.descriptor, owner.st_uid, owner.st_gid) == 0 else {
      throw FileFailure("can't be locked for writing")
    }
  }
}
#endif
