// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
internal import KeyringPlatform

/// A lack of threads or file descriptors that makes a call fail.
package struct Shortage: Error, Equatable, Sendable {
  /// A resource that the system limits.
  package enum Resource: Sendable {
    case thread
    case descriptor
  }

  let resource: Resource
  /// The number of the error, as listed in errno(3).
  package let number: Int32

  /// A sentence that describes the problem.
  package var message: String {
    switch resource {
    case .thread: "The program can't start another thread."
    case .descriptor: "The program can't open another file."
    }
  }

  /// Sentences that suggest a solution.
  package var recoverySuggestion: String {
    switch resource {
    case .thread:
      "Raise the limit with \"ulimit -u\", or with TasksMax= in the unit of a service. Or free some memory."
    case .descriptor:
      "Raise the limit with \"ulimit -n\", or with LimitNOFILE= in the unit of a service. Or close some files."
    }
  }

  /// The number of the error and the system's text for it.
  package var underlying: SecureStorageError.Underlying {
    .init(domain: "errno", code: Int(number), text: String(cString: strerror(number)))
  }
}
