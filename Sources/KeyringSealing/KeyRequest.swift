// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A storage's request for its key, which a ``KeySource`` answers.
///
/// ```swift
/// let source = KeySource.passphrase { (request) async throws(SecureStorageError) in
///   let passphrase = try Secret.typed(atPrompt: "Passphrase of the \(request.subject): ")
///   if request.purpose == .creation, try Secret.typed(atPrompt: "Repeat it: ") != passphrase {
///     throw request.error(.invalidArgument, "The two passphrases differ.", argument: "passphrase")
///   }
///   return passphrase
/// }
/// ```
public struct KeyRequest: Sendable {
  /// The purpose of a key.
  public enum Purpose: Sendable {
    /// A request to decrypt what was encrypted with the key.
    case opening
    /// A request to encrypt something for the first time.
    ///
    /// The source may create a missing key.
    case creation
    /// A request to look for the key.
    ///
    /// The source must only look. For a key that it would have to ask for or unlock, it throws `.locked`, and for a
    /// missing one that it can't create, `.keyNotFound`.
    case inspection
  }

  /// The purpose of the key.
  public let purpose: Purpose
  /// A description of what the key belongs to, for example "file /var/lib/example/secrets".
  public let subject: String
  /// The name of the storage that asks for the key.
  public let backendName: String

  package init(_ purpose: Purpose, for subject: String, backendName: String) {
    (self.purpose, self.subject, self.backendName) = (purpose, subject, backendName)
  }

  /// Creates the error for an unavailable key.
  ///
  /// ```swift
  /// throw request.error(.keyNotFound, "The vault has no key for the \(request.subject).")
  /// ```
  ///
  /// - Parameters:
  ///   - code: The code, such as `.keyNotFound`, `.locked` or `.accessDenied`.
  ///   - message: A sentence that tells people what went wrong. The default is the sentence of the code.
  ///   - recoverySuggestion: A sentence that tells people what they can do. The default is the sentence of
  ///     the code.
  ///   - argument: The name of the argument that `.invalidArgument` refuses.
  ///   - underlying: The underlying error, or `nil`.
  /// - Returns: The error, which names the storage that asks for the key.
  public func error(
    _ code: SecureStorageError.Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backendName: backendName, message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }

  /// Throws `.locked` in an inspection, for a source that would have to ask for the key.
  func refuseInspection(of noun: String = "key") throws(SecureStorageError) {
    if purpose == .inspection {
      throw error(.locked, "The \(noun) of the \(subject) can't be asked for now.")
    }
  }
}
