#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the system said when something could not be done with a file.
package struct FileFailure: Error {
  /// What could not be done: the rest of a sentence that begins with "The file".
  package let problem: String
  /// The number of the error, as errno(3) lists them.
  package let number: Int32

  /// Keeps an error.
  ///
  /// - Parameters:
  ///   - problem: What could not be done.
  ///   - number: The number of the error; by default that of the last call.
  package init(_ problem: String, number: Int32 = errno) {
    (self.problem, self.number) = (problem, number)
  }

  /// `.accessDenied` where the caller lacks a permission, otherwise `.backend`.
  package var code: SecureStorageError.Code {
    [EACCES, EPERM, EROFS].contains(number) ? .accessDenied : .backend
  }

  /// The number and the system's words for it.
  package var underlying: SecureStorageError.Underlying {
    .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
  }
}
