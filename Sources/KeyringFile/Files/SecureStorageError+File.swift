// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage

internal import KeyringPlatform

extension FileLocation {
  /// Returns a request for the key of the file.
  func keyRequest(_ purpose: KeyRequest.Purpose) -> KeyRequest {
    KeyRequest(purpose, for: "file \(path)", backendName: "EncryptedFileStorage")
  }
}

extension SecureStorageError {
  /// Creates an error about the file; the caller sets its operation.
  init(
    _ code: Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: Underlying? = nil
  ) {
    self.init(
      code, operation: .read, backendName: "EncryptedFileStorage", message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }

  /// Creates the error for a failure that left the file unchanged.
  init(_ place: FileLocation, _ failure: FileFailure) {
    let recoverySuggestion: String? =
      switch failure.number {
      case _ where failure.kind == .unsuitable: "Use the path of an encrypted file."
      case ENOSPC, EDQUOT, EFBIG: "Free some disk space. The previous content is unchanged."
      case ELOOP: "Use the path of the file itself. It must not be a link."
      default: failure.advice
      }
    self.init(
      failure.code, "The file \(place.path) \(failure.problem).",
      recoverySuggestion: recoverySuggestion,
      underlying: failure.underlying)
  }

  /// Returns the error for a new file that is in place but may not be on the disk.
  static func afterwards(_ place: FileLocation, _ failure: FileFailure) -> SecureStorageError {
    var error = SecureStorageError(place, failure)
    error.recoverySuggestion = """
      The new content is in place. If the machine crashes now, the old content may come back. \
      Check the disk and the directory, and save again.
      """
    return error
  }

  /// Returns the error for a file whose changes can't be noticed.
  static func unwatched(_ place: FileLocation, _ failure: FileFailure) -> SecureStorageError {
    var error = SecureStorageError(place, failure)
    if [ENOSPC, EMFILE].contains(failure.number) {
      error.recoverySuggestion =
        "Raise fs.inotify.max_user_watches or fs.inotify.max_user_instances with sysctl."
    }
    return error
  }

  /// Returns the error for a file that isn't as it was written.
  static func damaged(_ place: FileLocation, _ how: String) -> SecureStorageError {
    SecureStorageError(.damaged, "The file \(place.path) is damaged: \(how).")
  }
}
#endif
