// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

/// A file that is never changed in place, so that it always has either its old or its new content.
struct ReplaceableFile: Sendable {
  /// The largest size of a file that is read, in bytes; settings files are far smaller.
  private static let largest = 16 << 20

  let path: String

  /// The name of the file in errors.
  var name: String { "file \(path)" }

  /// Reads the file, or returns `nil` if there is none.
  ///
  /// - Parameter isToReplace: Pass `false` to read a file that stays as it is.
  /// - Returns: The content.
  /// - Throws: `SecureStorageError` if the file can't be read, or not be replaced.
  func read(toReplace isToReplace: Bool = true) throws(SecureStorageError) -> Secret? {
    try attempt(.read) { () throws(FileFailure) in
      guard let file = try OpenFile.reading(path) else { return nil }
      let status = try file.regularStatus(atMost: Self.largest)
      guard status.st_nlink == 1 || !isToReplace else {
        // The secrets would remain under the other name.
        throw FileFailure(
          "has several names (hard links)", number: EMLINK, kind: .unsuitable)
      }
      return try file.secret(atMost: Self.largest)
    }
  }

  /// Throws an error if the file can't be replaced.
  func checkIsReplaceable() throws(SecureStorageError) {
    _ = try read()
    let directory = try Directory(of: realPath())
    guard access(path, W_OK) == 0, access(directory.path, W_OK | X_OK) == 0 else {
      throw failure(.read, FileFailure("can't be changed"))
    }
  }

  /// Replaces the old content, unless someone else has written the file in the meantime.
  func replace(_ old: Secret, with new: Secret) throws(SecureStorageError) {
    // If the path is a link, replace its target, so that it stays a link.
    let target = try realPath()
    try new.withUnsafeBytes { (bytes) throws(SecureStorageError) in
      let replacement = try attempt(.remove) { () throws(FileFailure) in
        try FileReplacement(of: target, with: bytes)
      }
      guard try read() == old else {
        throw error(.sourceChanged, .remove, "The file was changed in the meantime.")
      }
      try attempt(.remove) { () throws(FileFailure) in
        try replacement.commit()
        try Directory(of: target).sync()
      }
    }
  }

  // MARK: - Parts

  private func realPath() throws(SecureStorageError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw failure(.read, FileFailure("can't be found"))
    }
    defer { free(resolved) }
    // Another file would be replaced instead.
    guard let target = String(validatingCString: resolved) else {
      throw failure(
        .read, FileFailure("leads to a name that isn't UTF-8", number: EINVAL, kind: .unsuitable))
    }
    return target
  }

  private func attempt<Result>(
    _ operation: SecureStorageError.Operation, _ body: () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: body).mapError { failure(operation, $0) }.get()
  }

  private func failure(
    _ operation: SecureStorageError.Operation, _ cause: FileFailure
  ) -> SecureStorageError {
    let code: SecureStorageError.Code =
      switch cause.kind {
      case .system: cause.code
      case .unsuitable: .invalidArgument
      case .grown: .sourceChanged
      }
    return error(
      code, operation, "The file \(cause.problem).", recoverySuggestion: cause.advice,
      underlying: cause.underlying)
  }

  /// Returns an error about the file, which has to be corrected unless it was changed in the meantime.
  func error(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation, _ message: String,
    recoverySuggestion: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    let usual = code == .sourceChanged ? "Try again." : "Correct the file, and try again."
    return SecureStorageError(
      code, operation: operation, backendName: name, message: message,
      recoverySuggestion: recoverySuggestion ?? usual,
      underlying: underlying)
  }
}
