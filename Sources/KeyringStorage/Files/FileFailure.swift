internal import Libc

/// An error that the system reported about a file.
package struct FileFailure: Error {
  /// The description of the problem, as the rest of a sentence that begins with "The file".
  package let problem: String
  /// The number of the error, as listed in errno(3).
  package let number: Int32

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - problem: The description of the problem.
  ///   - number: The number of the error. The default is that of the last call.
  package init(_ problem: String, number: Int32 = errno) {
    (self.problem, self.number) = (problem, number)
  }

  /// Indicates whether the file doesn't exist.
  package var isMissing: Bool { [ENOENT, ENOTDIR].contains(number) }

  /// Indicates whether the file grew while it was read.
  package var hasGrown: Bool { number == ESTALE }

  /// Indicates whether the file isn't a regular file, or is too large.
  package var isUnsuitable: Bool { [EINVAL, EFBIG].contains(number) }

  /// The code `.accessDenied` if the caller lacks a permission, and `.other` otherwise.
  package var code: SecureStorageError.Code {
    [EACCES, EPERM, EROFS].contains(number) ? .accessDenied : .other
  }

  /// The number of the error and the system's text for it.
  package var underlying: SecureStorageError.Underlying {
    .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
  }
}
