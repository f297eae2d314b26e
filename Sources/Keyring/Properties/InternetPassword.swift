// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A property that keeps the password of an account on a server in the user's keyring.
///
/// Other programs share such passwords. A failure of the plain property is in `$gitPassword.failure`.
///
/// ```swift
/// struct SecureSettings {
///   @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
/// }
/// ```
@propertyWrapper
public struct InternetPassword<Value: PasswordValue>: SecureProperty {
  /// The handle of the item, with the operations that throw.
  public let projectedValue: StoredValue<Value>

  private init(
    _ server: InternetServer, _ account: String?, _ coding: ItemCoding<Value>,
    _ storage: (any SecureStorage)?
  ) {
    projectedValue = StoredValue(
      key: .internetPassword(server: server, account: account), as: coding, storage: storage)
  }

  /// The password, or `nil`.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead:
  ///
  /// ```swift
  /// settings.gitPassword = "s3cret"
  /// let password = try await settings.$gitPassword.read()
  /// ```
  public var wrappedValue: Value? {
    get { projectedValue.value }
    nonmutating set { projectedValue.value = newValue }
  }
}

extension InternetPassword where Value == String {
  /// Declares a property for the password of an account on a server.
  ///
  /// ```swift
  /// @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
  /// @InternetPassword(server: InternetServer("mail.example.org", protocol: .imaps)) var mail: String?
  /// ```
  ///
  /// - Parameters:
  ///   - server: The host, or a server with the other parts that matter.
  ///   - account: The account, for a server with several.
  ///   - lifetime: The time from each write until the password expires, which `$gitPassword.dates()` reports.
  ///   - storage: The storage of the password. The default is the current storage at each use.
  public init(
    server: InternetServer, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(server, account, .text.expiring(after: lifetime), storage)
  }
}

extension InternetPassword where Value == Secret {
  /// Declares a property for the password of an account on a server, in locked memory.
  ///
  /// Declare the type: a property without a type annotation is a `String?`.
  ///
  /// ```swift
  /// @InternetPassword(server: "vault.example.org") var vaultToken: Secret?
  /// ```
  ///
  /// - Parameters:
  ///   - server: The host, or a server with the other parts that matter.
  ///   - account: The account, for a server with several.
  ///   - lifetime: The time from each write until the password expires, which `$gitPassword.dates()` reports.
  ///   - storage: The storage of the password. The default is the current storage at each use.
  @_disfavoredOverload
  public init(
    server: InternetServer, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(server, account, .secret.expiring(after: lifetime), storage)
  }
}
