// SPDX-License-Identifier: Apache-2.0

// The associated type is public only because the compiler wants it.
// swift-format-ignore-file: NoLeadingUnderscores

public import KeyringCore

/// The type of a property for a password: `String?`, `Secret?`, or with a default `String`.
///
/// Use one of these types. Other types are for ``SecureValue``.
///
/// ```swift
/// struct Keys {
///   @Password("authToken") var authToken: String?
///   @Password("signingKey") var signingKey: Secret?
///   @Password("proxyUser", default: "anonymous") var proxyUser: String
/// }
/// ```
public protocol PasswordValue: Sendable {
  /// The type of the stored password: `String` or `Secret`.
  associatedtype _StoredPassword: Sendable = Self
}

extension String: PasswordValue {}

extension Secret: PasswordValue {}

extension Optional: PasswordValue where Wrapped: PasswordValue {
  /// The type of the stored password.
  public typealias _StoredPassword = Wrapped._StoredPassword
}
