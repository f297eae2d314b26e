// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
internal import KeyringPlatform

/// An error that the system reported about a file.
package struct FileFailure: Error {
  /// The description of the problem, as the rest of a sentence that begins with "The file".
  package let problem: String
  /// The number of the error, as listed in errno(3).
  package let number: Int32
  /// The kind of the failure.
  package let kind: Kind

  /// The kind of a failure.
  package enum Kind: Sendable {
    /// The system has reported an error.
    case system
    /// The file is too large, or of another kind than a regular file.
    case unsuitable
    /// The file grew during the read.
    case grown
  }

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - problem: The description of the problem.
  ///   - number: The number of the error. The default is that of the last call.
  ///   - kind: The kind of the failure.
  package init(_ problem: String, number: Int32 = errno, kind: Kind = .system) {
    (self.problem, self.number, self.kind) = (problem, number, kind)
  }

  /// Whether the file is missing.
  package var isMissing: Bool { number == ENOENT }

  /// Whether the path leads through something other than a directory.
  package var hasNoDirectory: Bool { number == ENOTDIR }

  /// The code `.accessDenied` for a lack of permission, and `.other` for the rest.
  package var code: SecureStorageError.Code {
    [EACCES, EPERM, EROFS].contains(number) ? .accessDenied : .other
  }

  /// The advice for a failure whose cause the user can change, or `nil` for another one.
  package var advice: String? {
    switch number {
    case EMLINK where kind == .unsuitable:
      "Remove the other ones, where the secrets would stay."
    case _ where kind != .system: nil
    case EROFS, EACCES, EPERM: "Give this program's user access to the file and its directory."
    // The file isn't busy, but mounted, as in a container.
    case EBUSY: "A file that is a mount of its own can't be replaced. Mount its directory instead."
    default: nil
    }
  }

  /// The number of the error and the system's text for it.
  package var underlying: SecureStorageError.Underlying {
    .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
  }
}
