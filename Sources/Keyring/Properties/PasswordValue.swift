// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A type that a property for a password can have: `String`, `String?`, or `Secret?`.
///
/// `Secret` itself conforms only so that `Secret?` does. Don't conform other types to this protocol.
public protocol PasswordValue: Sendable {
  /// The type of the stored password: `String` or `Secret`.
  associatedtype StoredPassword: Sendable
}

extension String: PasswordValue {
  /// The type of the stored password.
  public typealias StoredPassword = String
}

extension Secret: PasswordValue {
  /// The type of the stored password.
  public typealias StoredPassword = Secret
}

extension Optional: PasswordValue where Wrapped: PasswordValue {
  /// The type of the stored password.
  public typealias StoredPassword = Wrapped.StoredPassword
}
