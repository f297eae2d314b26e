// SPDX-License-Identifier: Apache-2.0

/// A login and its password, which are stored together as one item.
///
/// ```swift
/// let account = Credential(login: "ada", password: "s3cret")
/// print(account)  // Credential(login: ada, password: <redacted>)
/// ```
public struct Credential: Sendable, Equatable {
  /// The login, which a keyring stores unencrypted as a searchable attribute.
  public var login: String

  /// The password as UTF-8, in locked memory that's overwritten on release.
  public private(set) var secret: Secret

  /// Creates a credential.
  ///
  /// - Parameters:
  ///   - login: The login, which a keyring stores unencrypted.
  ///   - password: The password.
  public init(login: String, password: String) {
    self.login = login
    self.secret = Secret(password)
  }

  /// Creates a credential whose password stays in locked memory.
  ///
  /// ```swift
  /// let account = Credential(login: "ada", secret: try Secret.typed(atPrompt: "Password: "))
  /// ```
  ///
  /// - Parameters:
  ///   - login: The login, which a keyring stores unencrypted.
  ///   - secret: The password. The initializer returns `nil` if it isn't UTF-8.
  public init?(login: String, secret: Secret) {
    guard secret.isUTF8 else { return nil }
    self.login = login
    self.secret = secret
  }

  /// The password as text.
  ///
  /// A `String` isn't overwritten on release. Use ``secret`` if that matters.
  public var password: String {
    // The initializers accept only UTF-8.
    get { secret.text ?? "" }
    set { secret = Secret(newValue) }
  }

  /// Compares two credentials byte by byte, and their passwords in constant time.
  public static func == (lhs: Credential, rhs: Credential) -> Bool {
    lhs.login.hasSameBytes(rhs.login) && lhs.secret == rhs.secret
  }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The login, and a placeholder for the password.
  public var description: String { "Credential(login: \(login), password: \(secret))" }
  /// The login, and a placeholder for the password.
  public var debugDescription: String { description }
  /// A mirror that shows only the login.
  public var customMirror: Mirror { Mirror(self, children: ["login": login]) }
}
