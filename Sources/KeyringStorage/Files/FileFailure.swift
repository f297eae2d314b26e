#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

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

  /// The code `.accessDenied` if the caller lacks a permission, and `.other` otherwise.
  package var code: SecureStorageError.Code {
    [EACCES, EPERM, EROFS].contains(number) ? .accessDenied : .other
  }

  /// The number of the error and the system's text for it.
  package var underlying: SecureStorageError.Underlying {
    .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
  }
}
