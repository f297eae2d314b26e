// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A property that keeps a password in the user's keyring.
///
/// Each use reads or changes the item, and assigning `nil` removes it. A failure of the plain property is
/// in `$authToken.failure`.
///
/// ```swift
/// struct SecureSettings {
///   @Password("authToken") var authToken: String?
///   @Password("proxyUser", default: "anonymous") var proxyUser: String
///   @Password("signingKey") var signingKey: Secret?  // in locked memory
///   @Password("databaseKey", orGenerate: .random(bytes: 32)) var databaseKey: Secret?
/// }
///
/// let settings = SecureSettings()
/// settings.authToken = "s3cret"
/// try settings.$authToken.write("s3cret")  // the same, throwing
/// ```
@propertyWrapper
public struct Password<Value: PasswordValue>: SecureProperty {
  /// The throwing operations of the property, and the error of its last failed read or assignment.
  public let projectedValue: StoredValue<Value._StoredPassword>
  private let missingValue: MissingValue<Value._StoredPassword, Value>

  private init(
    _ name: String, _ key: PropertyKey, _ coding: ItemCoding<Value._StoredPassword>,
    _ lifetime: Duration?, _ storage: (any SecureStorage)?,
    _ missingValue: MissingValue<Value._StoredPassword, Value>,
    _ firstValue: FirstValue<Value._StoredPassword>? = nil
  ) {
    projectedValue = StoredValue(
      name: name, storage: storage, as: coding.expiring(after: lifetime), key: key,
      first: firstValue)
    self.missingValue = missingValue
  }

  /// The password.
  ///
  /// For a missing password or a failed read, it's `nil` or the default.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead.
  ///
  /// ```swift
  /// settings.authToken = "s3cret"
  /// settings.authToken = nil  // removes it
  /// ```
  public var wrappedValue: Value {
    get { missingValue.read(projectedValue) }
    nonmutating set { missingValue.assign(projectedValue, newValue) }
  }
}

extension Password where Value == String? {
  /// Declares a property for a password.
  ///
  /// ```swift
  /// @Password("authToken") var authToken: String?
  /// @Password("accessToken", expiresAfter: .seconds(3600)) var accessToken: String?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The account or the name of a token. It identifies the password among those of the
  ///     service.
  ///   - service: The app or service that the password belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the password. It's part of
  ///     the key.
  ///   - oldKey: The key that an earlier version of your app used. The first use of the property gives an item with
  ///     that key the key of the property. Uses other than reads look for it each time.
  ///   - lifetime: The time from each write until the password expires, which `$authToken.dates()` reports. By default,
  ///     a password stays valid.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, service: String? = nil, accessGroup: String? = nil,
    movingFrom oldKey: ItemKey? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .password(account, service, accessGroup), .text, lifetime, storage, .isNil,
      FirstValue(movedFrom: oldKey))
  }

  /// Declares a property for a password that is already stored, for example by an earlier version of your app.
  ///
  /// ```swift
  /// @Password(key: ItemKey(kind: .password, attributes: ["key": "token"], schema: "org.example.App"))
  /// var token: String?
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the password expires. By default, it stays valid.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key.propertyName, .fixed(key), .text, lifetime, storage, .isNil)
  }

  /// Declares a property for a password that the first read generates.
  ///
  /// Only a read makes the new password, and a failure to store it gives `nil`.
  ///
  /// ```swift
  /// @Password("installationID", orGenerate: UUID().uuidString) var installationID: String?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The account or the name of a token. It identifies the password among those of the
  ///     service.
  ///   - generate: The expression that makes a password, which is evaluated for a missing item.
  ///   - service: The app or service that the password belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the password. It's part of
  ///     the key.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$authToken.dates()` reports. A password that has expired isn't replaced.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, orGenerate generate: @autoclosure @escaping @Sendable () -> String,
    service: String? = nil, accessGroup: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .password(account, service, accessGroup), .text, lifetime, storage, .isNil,
      .generated(generate))
  }
}

extension Password where Value == String {
  /// Declares a property for a password, with a default.
  ///
  /// ```swift
  /// @Password("proxyUser", default: "anonymous") var proxyUser: String
  /// ```
  ///
  /// - Parameters:
  ///   - account: The account or the name of a token. It identifies the password among those of the
  ///     service.
  ///   - default: The value for a missing item or a failed read. It stays out of the storage.
  ///   - service: The app or service that the password belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the password. It's part of
  ///     the key.
  ///   - lifetime: The time from each write until the password expires, which `$authToken.dates()` reports. By default,
  ///     a password stays valid.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, default: String, service: String? = nil, accessGroup: String? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .password(account, service, accessGroup), .text, lifetime, storage,
      .isDefault(`default`))
  }
}

extension Password where Value == Secret? {
  /// Declares a property for a password in locked memory.
  ///
  /// Declare the type: a property without a type annotation is a `String?`.
  ///
  /// ```swift
  /// @Password("signingKey") var signingKey: Secret?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The account or the name of a token. It identifies the password among those of the
  ///     service.
  ///   - service: The app or service that the password belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the password. It's part of
  ///     the key.
  ///   - oldKey: The key that an earlier version of your app used. The first use of the property gives an item with
  ///     that key the key of the property. Uses other than reads look for it each time.
  ///   - lifetime: The time from each write until the password expires, which `$authToken.dates()` reports. By default,
  ///     a password stays valid.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    _ account: String, service: String? = nil, accessGroup: String? = nil,
    movingFrom oldKey: ItemKey? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .password(account, service, accessGroup), .secret, lifetime, storage, .isNil,
      FirstValue(movedFrom: oldKey))
  }

  /// Declares a property for a password in locked memory that is already stored, for example by an earlier version of
  /// your app.
  ///
  /// ```swift
  /// @Password(key: ItemKey(kind: .password, attributes: ["key": "token"], schema: "org.example.App"))
  /// var token: Secret?
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the password expires. By default, it stays valid.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key.propertyName, .fixed(key), .secret, lifetime, storage, .isNil)
  }

  /// Declares a property for a password in locked memory that the first read generates.
  ///
  /// Only a read makes the new password, and a failure to store it gives `nil`. Declare the type: a property without a
  /// type annotation is a `String?`.
  ///
  /// ```swift
  /// @Password("databaseKey", orGenerate: .random(bytes: 32)) var databaseKey: Secret?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The account or the name of a token. It identifies the password among those of the
  ///     service.
  ///   - generate: The expression that makes a password, which is evaluated for a missing item.
  ///   - service: The app or service that the password belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the password. It's part of
  ///     the key.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$databaseKey.dates()` reports. A password that has expired isn't replaced.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    _ account: String, orGenerate generate: @autoclosure @escaping @Sendable () -> Secret,
    service: String? = nil, accessGroup: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .password(account, service, accessGroup), .secret, lifetime, storage, .isNil,
      .generated(generate))
  }
}
