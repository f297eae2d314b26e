// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A property that keeps the password of an account on a server in the user's keyring.
///
/// ```swift
/// struct SecureSettings {
///   @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
/// }
/// ```
///
/// Getters and setters can't throw. If one fails, the error is in `$gitPassword.failure`.
@propertyWrapper
public struct InternetPassword<Value: PasswordValue>: SecureProperty {
  /// The throwing operations of the property, and the error of its last failed read or assignment.
  public let projectedValue: StoredValue<Value._StoredPassword>
  private let missingValue: MissingValue<Value._StoredPassword, Value>

  private init(
    _ key: ItemKey, _ storage: (any SecureStorage)?, _ coding: ItemCoding<Value._StoredPassword>,
    _ missingValue: MissingValue<Value._StoredPassword, Value>
  ) {
    projectedValue = StoredValue(
      name: key.propertyName, storage: storage, as: coding, key: .fixed(key))
    self.missingValue = missingValue
  }

  /// The password.
  ///
  /// It's `nil` or the default if there is no password or if it can't be read.
  ///
  /// Each use blocks for a trip to the keyring, as ``StoredValue/value`` tells. On the main thread, use `await` and the
  /// projected value instead.
  public var wrappedValue: Value {
    get { missingValue.read(projectedValue) }
    nonmutating set { missingValue.assign(projectedValue, newValue) }
  }
}

extension InternetPassword where Value == String? {
  /// Declares a property for the password of an account on a server.
  ///
  /// - Parameters:
  ///   - server: The server. Specify only the parts that matter.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ server: InternetServer, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      .internetPassword(server: server, account: account), storage, .text.expiring(after: lifetime),
      .isNil)
  }

  /// Declares a property for the password of an account on a host.
  ///
  /// - Parameters:
  ///   - server: The name or address of the host.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    server: String, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(InternetServer(server), account: account, expiresAfter: lifetime, storage: storage)
  }

  /// Declares a property for the password of a server with any key, such as one that names a schema.
  ///
  /// ```swift
  /// @InternetPassword(
  ///   key: .internetPassword(server: InternetServer("git.example.org", protocol: .https), account: "me")
  ///     .with(schema: "org.git.Password"))
  /// var gitPassword: String?
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the password expires. By default, it doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key, storage, .text.expiring(after: lifetime), .isNil)
  }
}

extension InternetPassword where Value == String {
  /// Declares a property for the password of an account on a server, with a default.
  ///
  /// - Parameters:
  ///   - server: The server. Specify only the parts that matter.
  ///   - default: The value if there is no item or if it can't be read. It's never stored.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    _ server: InternetServer, default: String, account: String? = nil,
    expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(
      .internetPassword(server: server, account: account), storage, .text.expiring(after: lifetime),
      .isDefault(`default`))
  }

  /// Declares a property for the password of an account on a host, with a default.
  ///
  /// - Parameters:
  ///   - server: The name or address of the host.
  ///   - default: The value if there is no item or if it can't be read. It's never stored.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  public init(
    server: String, default: String, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      InternetServer(server), default: `default`, account: account, expiresAfter: lifetime,
      storage: storage)
  }
}

extension InternetPassword where Value == Secret? {
  /// Declares a property for the password of an account on a server, in locked memory.
  ///
  /// Declare the type: a property without a type annotation is a `String?`.
  ///
  /// - Parameters:
  ///   - server: The server. Specify only the parts that matter.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    _ server: InternetServer, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(
      .internetPassword(server: server, account: account), storage,
      .secret.expiring(after: lifetime), .isNil)
  }

  /// Declares a property for the password of an account on a host, in locked memory.
  ///
  /// Declare the type: a property without a type annotation is a `String?`.
  ///
  /// - Parameters:
  ///   - server: The name or address of the host.
  ///   - account: The account, if the server has several.
  ///   - lifetime: The time from each write until the password expires, which
  ///     `$gitPassword.dates()` reports. By default, a password doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    server: String, account: String? = nil, expiresAfter lifetime: Duration? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(InternetServer(server), account: account, expiresAfter: lifetime, storage: storage)
  }

  /// Declares a property for the password of a server with any key, in locked memory.
  ///
  /// ```swift
  /// @InternetPassword(
  ///   key: .internetPassword(server: InternetServer("git.example.org", protocol: .https), account: "me")
  ///     .with(schema: "org.git.Password"))
  /// var gitPassword: Secret?
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the item, with all of its attributes, and its schema if it has one of its own.
  ///   - lifetime: The time from each write until the password expires. By default, it doesn't expire.
  ///   - storage: The storage of the password. By default, it's the current storage each time you use the
  ///     property.
  @_disfavoredOverload
  public init(
    key: ItemKey, expiresAfter lifetime: Duration? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(key, storage, .secret.expiring(after: lifetime), .isNil)
  }
}
