// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A property that keeps a login and its password as one item in the user's keyring.
///
/// A reader gets either the old pair or the new one. A failure of the plain property is in `$account.failure`.
///
/// ```swift
/// struct SecureSettings {
///   @Credentials("account") var account: Credential?
/// }
///
/// let settings = SecureSettings()
/// settings.account = Credential(login: "me@example.org", password: "s3cret")
/// ```
@propertyWrapper
public struct Credentials: SecureProperty {
  /// The handle of the item, with the operations that throw.
  public let projectedValue: StoredValue<Credential>

  /// The login and the password, or `nil`.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead:
  ///
  /// ```swift
  /// settings.account = Credential(login: "me", password: "s3cret")
  /// let account = try await settings.$account.read()
  /// ```
  public var wrappedValue: Credential? {
    get { projectedValue.value }
    nonmutating set { projectedValue.value = newValue }
  }

  /// Declares a property for a login and its password.
  ///
  /// ```swift
  /// @Credentials("account") var account: Credential?
  /// ```
  ///
  /// - Parameters:
  ///   - label: The name of the credential. It identifies the item, whatever the login is.
  ///   - service: The app or service of the credential. The default is ``SecureStorageDefaults/service``.
  ///   - oldKey: The key that an earlier version of your app used. The first use of the property gives an item with
  ///     that key the key of the property. Uses other than reads look for it each time.
  ///   - lifetime: The time from each write until the credential expires, which `$account.dates()` reports.
  ///   - storage: The storage of the credential. The default is the current storage at each use.
  public init(
    _ label: String, service: String? = nil, movingFrom oldKey: ItemKey? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    projectedValue = StoredValue(
      name: label, storage: storage, as: .credential.expiring(after: lifetime),
      key: PropertyKey(of: service) { .credentials(service: $0, label: label) },
      first: FirstValue(movedFrom: oldKey))
  }

  /// Declares a property for a login and its password that are already stored, for example by an earlier version of
  /// your app.
  ///
  /// The login is in the attribute "username".
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the credential expires.
  ///   - storage: The storage of the credential. The default is the current storage at each use.
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    projectedValue = StoredValue(
      name: key.propertyName, storage: storage, as: .credential.expiring(after: lifetime),
      key: .fixed(key))
  }
}
