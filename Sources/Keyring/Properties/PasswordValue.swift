// SPDX-License-Identifier: Apache-2.0

// The associated type is public only because the compiler wants it.
// swift-format-ignore-file: NoLeadingUnderscores

public import KeyringCore

/// A type that a property for a password can have: `String`, `String?`, or `Secret?`.
///
/// `Secret` itself conforms only so that `Secret?` does. Don't conform other types to this protocol.
public protocol PasswordValue: Sendable {
  /// The type of the stored password: `String` or `Secret`.
  associatedtype _StoredPassword: Sendable
}

extension String: PasswordValue {
  /// The type of the stored password.
  public typealias _StoredPassword = String
}

extension Secret: PasswordValue {
  /// The type of the stored password.
  public typealias _StoredPassword = Secret
}

extension Optional: PasswordValue where Wrapped: PasswordValue {
  /// The type of the stored password.
  public typealias _StoredPassword = Wrapped._StoredPassword
}
