// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A storage's request for its key, which a ``KeySource`` answers.
public struct KeyRequest: Sendable {
  /// The purpose of a key.
  public enum Purpose: Sendable {
    /// A request to decrypt what was encrypted with the key.
    case opening
    /// A request to encrypt something for the first time.
    ///
    /// If there is no key yet, the source may create one.
    case creation
    /// A request to find out whether the key is available.
    ///
    /// The source must neither ask anyone nor unlock or create anything. It throws `.locked` if the key
    /// isn't available without that, and `.keyNotFound` if there is no key and it can't create one.
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

  /// Creates the error for a key that isn't available.
  ///
  /// - Parameters:
  ///   - code: The code, such as `.keyNotFound`, `.locked` or `.accessDenied`.
  ///   - message: A sentence that tells people what went wrong. The default is the sentence of the code.
  ///   - recoverySuggestion: A sentence that tells people what they can do. The default is the sentence of
  ///     the code.
  ///   - argument: The name of the refused argument, if the code is `.invalidArgument`.
  ///   - underlying: The underlying error, if there is one.
  /// - Returns: The error, which names the storage that asks for the key.
  public func error(
    _ code: SecureStorageError.Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .read, backendName: backendName, message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }

  /// Throws `.locked` if this is an inspection, because the source would have to ask for the key.
  func refuseInspection(of noun: String = "key") throws(SecureStorageError) {
    if purpose == .inspection {
      throw error(.locked, "The \(noun) of the \(subject) can't be asked for now.")
    }
  }
}
