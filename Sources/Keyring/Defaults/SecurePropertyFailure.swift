// SPDX-License-Identifier: Apache-2.0

public import KeyringCore

/// A failed assignment to a secure property, or a plain use that blocked the main loop.
///
/// ```swift
/// SecureStorageDefaults.failureHandler = { failure in
///   print("\(failure.property): \(failure.error.message)")
/// }
/// ```
public struct SecurePropertyFailure: Error, Sendable, CustomStringConvertible {
  /// The name that the property was declared with: the account or the label.
  public let property: String

  /// The error, which never contains the value.
  public let error: SecureStorageError

  /// The property and the error on one line, without the value.
  public var description: String { "secure property \"\(property)\": \(error)" }
}
