#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What keeps the writers of a file apart, threads and processes alike; closed, it is given back, also
/// when the process is killed.
struct FileLock {
  private let file: OpenFile
  private let path: String

  /// Takes the lock; `nil` when somebody else has it.
  init?(taking place: FilePlace) throws(FileFailure) {
    path = place.lockPath
    do throws(FileFailure) {
      file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
      try giveToOwner(of: place.path)
      if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EWOULDBLOCK || errno == EINTR { return nil }
        throw FileFailure("cannot be locked for writing")
      }
      guard try isHeld() else { return nil }
    } catch {
      throw FileFailure("cannot be locked for writing", number: error.number)
    }
  }

  /// Whether it still keeps others out: somebody may have removed it, and another writer have made and
  /// locked a new one.
  func isHeld() throws(FileFailure) -> Bool {
    try FileIdentity(at: path) == FileIdentity(file.status())
  }

  /// Root may write the file of a user, who is not to be locked out by that.
  private func giveToOwner(of path: String) throws(FileFailure) {
    var owner = stat()
    guard geteuid() == 0, lstat(path, &owner) == 0 else { return }
    let status = try file.status()
    if status.st_uid == owner.st_uid { return }
    // The folder may be the user's, who is not to be given a file that has another name elsewhere.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw FileFailure("cannot be locked for writing", number: EMLINK)
    }
    guard fchown(file.descriptor, owner.st_uid, owner.st_gid) == 0 else {
      throw FileFailure("cannot be locked for writing")
    }
  }
}
#endif
