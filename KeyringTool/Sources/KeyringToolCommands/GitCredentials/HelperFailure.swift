// SPDX-License-Identifier: Apache-2.0

package import Keyring

/// A failure of the helper, which never contains a secret.
package enum HelperFailure: Error, Equatable {
  /// A line of the input isn't `name=value`.
  case malformedLine
  /// The value with this name must be text, and isn't.
  case notText(String)
  /// The value with this name has a newline or a NUL, which the protocol can't represent.
  case unwritableValue(String)
  /// The value of `url` isn't a URL.
  case malformedURL
  /// The storage couldn't perform the operation.
  case storage(SecureStorageError)

  /// The message, on one line.
  package var line: String {
    switch self {
    case .malformedLine: "A line of the input is not name=value."
    case .notText(let name): "The value of \(name) isn't UTF-8."
    case .unwritableValue(let name): "The value of \(name) contains a newline or a NUL."
    case .malformedURL: "The value of url isn't a URL."
    case .storage(let error): error.sentences
    }
  }
}
