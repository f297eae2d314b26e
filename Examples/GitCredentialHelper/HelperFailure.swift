import Keyring

/// Why the helper could not do what git asked; it never holds a secret.
enum HelperFailure: Error, Equatable {
  /// A line of the input is not `name=value`.
  case malformedLine
  /// What the name stands for has to be text, and is not.
  case notText(String)
  /// What the name stands for has a newline or a NUL, which the protocol has no way to write.
  case unwritableValue(String)
  /// The value of `url` is no URL.
  case malformedURL
  /// Nobody reads the answer.
  case unreadOutput
  /// The keyring could not do it.
  case storage(SecureStorageError)

  /// What went wrong, in one line.
  var line: String {
    switch self {
    case .malformedLine: "A line of the input is not name=value."
    case .notText(let name): "The value of \(name) is not UTF-8."
    case .unwritableValue(let name): "The value of \(name) has a newline or a NUL."
    case .malformedURL: "The value of url is not a URL."
    case .unreadOutput: "The answer could not be written."
    case .storage(let error): "\(error.message) \(error.advice)"
    }
  }
}
