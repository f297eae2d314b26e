// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform
public import KeyringStorage

/// A property that keeps a value of any codable type in the user's keyring.
///
/// `Data` and `[UInt8]` are stored as they are, and all other types as JSON. A failure of the plain
/// property is in `$session.failure`.
///
/// ```swift
/// struct SecureSettings {
///   @SecureValue("session") var session: OAuthSession?
///   @SecureValue<OAuthSession, OAuthSession?> var other: OAuthSession?  // set up in `init`
/// }
/// ```
@propertyWrapper
public struct SecureValue<Stored: Codable & Sendable, Value: Sendable>: SecureProperty {
  /// The throwing operations of the property, and the error of its last failed read or assignment.
  public let projectedValue: StoredValue<Stored>
  private let missingValue: MissingValue<Stored, Value>

  private init(
    _ name: String, _ key: PropertyKey, _ lifetime: Duration?, _ storage: (any SecureStorage)?,
    _ missingValue: MissingValue<Stored, Value>, _ firstValue: FirstValue<Stored>? = nil,
    expires: (@Sendable (Stored) -> Date?)? = nil
  ) {
    projectedValue = StoredValue(
      name: name, storage: storage,
      as: .value().expiring(after: lifetime).expiring(at: expires), key: key,
      first: firstValue)
    self.missingValue = missingValue
  }

  /// The value.
  ///
  /// For a missing value or a failed read, it's `nil` or the default.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead.
  ///
  /// ```swift
  /// settings.session = OAuthSession(accessToken: "s3cret", refreshToken: "s3cret")
  /// ```
  public var wrappedValue: Value {
    get { missingValue.read(projectedValue) }
    nonmutating set { missingValue.assign(projectedValue, newValue) }
  }
}

extension SecureValue where Value == Stored? {
  /// Declares a property for a value.
  ///
  /// ```swift
  /// @SecureValue("session") var session: OAuthSession?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value. It identifies the value among those of the service.
  ///   - service: The app or service that the value belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the value.
  ///   - oldKey: The key that an earlier version of your app used. The first use of the property gives an item with
  ///     that key the key of the property. Uses other than reads look for it each time.
  ///   - lifetime: The time from each write until the value expires, which `$session.dates()` reports. By default, a
  ///     value stays valid.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, service: String? = nil, accessGroup: String? = nil,
    movingFrom oldKey: ItemKey? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .value(account, service, accessGroup), lifetime, storage, .isNil,
      FirstValue(movedFrom: oldKey))
  }

  /// Declares a property for a value that knows when it expires, such as the tokens of a server.
  ///
  /// ```swift
  /// @SecureValue("tokens", expires: \.expires) var tokens: Tokens?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value. It identifies the value among those of the service.
  ///   - expires: The closure that returns the time at which a value expires, or `nil` for one that doesn't.
  ///   - service: The app or service that the value belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the value.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, expires: @escaping @Sendable (Stored) -> Date?, service: String? = nil,
    accessGroup: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .value(account, service, accessGroup), nil, storage, .isNil, expires: expires)
  }

  /// Declares a property for a value that is already stored, for example by an earlier version of your app.
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the value expires. By default, it stays valid.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the
  ///     property.
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key.propertyName, .fixed(key), lifetime, storage, .isNil)
  }

  /// Declares a property for a value that the first read generates.
  ///
  /// Only a read makes the new value, and a failure to store it gives `nil`.
  ///
  /// ```swift
  /// @SecureValue("deviceID", orGenerate: UUID()) var deviceID: UUID?
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value. It identifies the value among those of the service.
  ///   - generate: The expression that makes a value, which is evaluated for a missing item.
  ///   - service: The app or service that the value belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the value.
  ///   - lifetime: The time from each write until the value expires, which
  ///     `$session.dates()` reports. A value that has expired isn't replaced.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, orGenerate generate: @autoclosure @escaping @Sendable () -> Stored,
    service: String? = nil, accessGroup: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .value(account, service, accessGroup), lifetime, storage, .isNil,
      .generated(generate))
  }
}

extension SecureValue where Value == Stored {
  /// Declares a property for a value, with a default.
  ///
  /// ```swift
  /// @SecureValue("scopes", default: ["read"]) var scopes: [String]
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value. It identifies the value among those of the service.
  ///   - default: The value for a missing item or a failed read. It stays out of the storage.
  ///   - service: The app or service that the value belongs to. The default is
  ///     ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name under which several programs of one vendor share the value.
  ///   - lifetime: The time from each write until the value expires, which `$session.dates()` reports. By default, a
  ///     value stays valid.
  ///   - storage: The storage of the value. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ account: String, default: Stored, service: String? = nil, accessGroup: String? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      account, .value(account, service, accessGroup), lifetime, storage, .isDefault(`default`))
  }
}
