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

  /// Takes the lock; `nil` when somebody else has it.
  init?(taking place: FilePlace) throws(FileFailure) {
    do throws(FileFailure) {
      file = try OpenFile(place.lockPath, O_RDWR | O_CREAT | O_NOFOLLOW)
      try giveToOwner(of: place.path)
      if flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EWOULDBLOCK || errno == EINTR { return nil }
        throw FileFailure("cannot be locked for writing")
      }
      // Somebody may have removed it, and another writer have made and locked a new one.
      guard try FileIdentity(at: place.lockPath) == FileIdentity(file.status()) else { return nil }
    } catch {
      throw FileFailure("cannot be locked for writing", number: error.number)
    }
  }

  /// Root may write the file of a user, who is not to be locked out by that.
  private func giveToOwner(of path: String) throws(FileFailure) {
    var owner = stat()
    guard geteuid() == 0, lstat(path, &owner) == 0 else { return }
    if try file.status().st_uid == owner.st_uid { return }
    guard fchown(file.descriptor, owner.st_uid, owner.st_gid) == 0 else {
      throw FileFailure("cannot be locked for writing")
    }
  }
}
#endif
