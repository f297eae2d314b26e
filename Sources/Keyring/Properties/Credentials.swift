// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A property that keeps a login and its password as one item in the user's keyring.
///
/// A reader gets either the old pair or the new one. A failure of the plain property is in
/// `$account.failure`.
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
public struct Credentials<Value: Sendable>: SecureProperty {
  /// The throwing operations of the property, and the error of its last failed read or assignment.
  public let projectedValue: StoredValue<Credential>
  private let missingValue: MissingValue<Credential, Value>

  private init(
    _ name: String, _ key: PropertyKey, _ lifetime: Duration?, _ storage: (any SecureStorage)?,
    _ missingValue: MissingValue<Credential, Value>, _ firstValue: FirstValue<Credential>? = nil
  ) {
    projectedValue = StoredValue(
      name: name, storage: storage, as: .credential.expiring(after: lifetime), key: key,
      first: firstValue)
    self.missingValue = missingValue
  }

  private static func key(_ label: String, _ service: String?) -> PropertyKey {
    PropertyKey(of: service) { .credentials(service: $0, label: label) }
  }

  /// The login and the password.
  ///
  /// It's `nil` or the default if none are stored or if they can't be read.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead.
  public var wrappedValue: Value {
    get { missingValue.read(projectedValue) }
    nonmutating set { missingValue.assign(projectedValue, newValue) }
  }
}

extension Credentials where Value == Credential? {
  /// Declares a property for a login and its password.
  ///
  /// - Parameters:
  ///   - label: The name of the credential. It identifies the item regardless of the login.
  ///   - service: The app or service that the credential belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - oldKey: The key that an earlier version of your app used, if any. The first use of the property gives an item
  ///     with that key the key of the property. Uses other than reads look for it each time.
  ///   - lifetime: The time from each write until the credential expires, which
  ///     `$account.dates()` reports. By default, a credential doesn't expire.
  ///   - storage: The storage of the credential. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ label: String, service: String? = nil, movingFrom oldKey: ItemKey? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      label, Self.key(label, service), lifetime, storage, .isNil, FirstValue(movedFrom: oldKey))
  }

  /// Declares a property for a login and its password that are already stored, such as by an earlier version of your
  /// app.
  ///
  /// The login is in the attribute "username".
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the credential expires. By default, it doesn't expire.
  ///   - storage: The storage of the credential. By default, it's the current storage each time you use the
  ///     property.
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key.propertyName, .fixed(key), lifetime, storage, .isNil)
  }

  /// Declares a property for a login and its password, which are generated and stored if there are none.
  ///
  /// Only a read makes the new credential, which is `nil` if it can't be stored.
  ///
  /// - Parameters:
  ///   - label: The name of the credential. It identifies the item regardless of the login.
  ///   - generate: The expression that makes a credential, which is evaluated if none is stored.
  ///   - service: The app or service that the credential belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - lifetime: The time from each write until the credential expires, which
  ///     `$account.dates()` reports. A credential that has expired isn't replaced.
  ///   - storage: The storage of the credential. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ label: String, orGenerate generate: @autoclosure @escaping @Sendable () -> Credential,
    service: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      label, Self.key(label, service), lifetime, storage, .isNil, .generated(generate))
  }
}

extension Credentials where Value == Credential {
  /// Declares a property for a login and its password, with a default.
  ///
  /// - Parameters:
  ///   - label: The name of the credential. It identifies the item regardless of the login.
  ///   - default: The value if there is no item or if it can't be read. It's never stored.
  ///   - service: The app or service that the credential belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - lifetime: The time from each write until the credential expires, which
  ///     `$account.dates()` reports. By default, a credential doesn't expire.
  ///   - storage: The storage of the credential. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ label: String, default: Credential, service: String? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(label, Self.key(label, service), lifetime, storage, .isDefault(`default`))
  }
}
