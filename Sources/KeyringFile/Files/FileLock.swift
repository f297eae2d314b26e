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

  init(_ path: String) throws(FileFailure) {
    do throws(FileFailure) {
      file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    } catch {
      throw FileFailure("cannot be locked for writing", number: error.number)
    }
  }

  /// Takes the lock; `false` when somebody else has it.
  func tryToTake() throws(FileFailure) -> Bool {
    if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK || errno == EINTR { return false }
    throw FileFailure("cannot be locked for writing")
  }
}
#endif
