#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SecureStorageError {
  /// An error about the file, or about another `path`; whoever was called fills in the operation.
  init(
    _ code: Code, _ place: FilePlace, _ message: String, advice: String? = nil,
    argument: String? = nil, underlying: Underlying? = nil
  ) {
    self.init(
      code, operation: .read, backend: "\(EncryptedFileStorage.self)", message: message,
      advice: advice, argument: argument, underlying: underlying)
  }

  /// Makes the error for a file that is still as it was before.
  init(_ place: FilePlace, _ failure: FileFailure) {
    let advice =
      switch failure.number {
      case ENOSPC, EDQUOT, EFBIG: "Make room on the disk; what was stored before is still there."
      case EROFS, EACCES, EPERM: "Let this program's user write the folder of the file."
      case ELOOP: "Name the file itself: it must not be a link."
      default: "Look at the underlying error."
      }
    self.init(
      failure.code, place, "The file \(place.path) \(failure.problem).", advice: advice,
      underlying: failure.underlying)
  }

  /// Returns the error for a new file that is in its place, and may not be on the disk.
  static func afterwards(_ place: FilePlace, _ failure: FileFailure) -> SecureStorageError {
    var error = SecureStorageError(place, failure)
    error.advice = """
      The new content is in place. If the machine crashes now, the old content may come back. \
      Check the disk and the folder, and save again.
      """
    return error
  }

  /// That the file is not as it was written.
  static func damaged(_ place: FilePlace, _ how: String) -> SecureStorageError {
    SecureStorageError(.damaged, place, "The file \(place.path) is damaged: \(how).")
  }
}
#endif
