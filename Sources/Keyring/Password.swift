public import KeyringStorage

/// A property whose value is a password in the user's keyring.
///
/// The value is never kept in the property: reading asks the storage, assigning writes to it, and
/// assigning `nil` removes the item. Setters are nonmutating, so a `let` will do.
///
/// ```swift
/// struct SecureSettings {
///   @Password("authToken") var authToken: String?
/// }
///
/// let settings = SecureSettings()
/// settings.authToken = "s3cret"
/// try settings.$authToken.write("s3cret")  // the same, throwing
/// ```
///
/// With a default the property is not optional; the default is never written to the keyring:
///
/// ```swift
/// @Password("proxyUser", default: "anonymous") var proxyUser: String
/// ```
///
/// A getter and a setter cannot throw; what went wrong is in `$authToken.failure`.
@propertyWrapper
public struct Password<Value: Sendable>: Sendable {
  /// The throwing operations, and what went wrong with the plain ones.
  public let projectedValue: SecureProperty<String>
  private let absence: Absence<String, Value>

  private init(
    _ account: String, _ service: String?, _ accessGroup: String?,
    _ storage: (any SecureStorage)?, _ absence: Absence<String, Value>
  ) {
    projectedValue = SecureProperty(
      name: account, storage: storage, as: .text,
      key: PropertyKey(of: service) {
        .password(service: $0, account: account, accessGroup: accessGroup)
      })
    self.absence = absence
  }

  /// The password; `nil` or the default when there is none, or when it cannot be read.
  public var wrappedValue: Value {
    get { absence.value(projectedValue.value) }
    nonmutating set { projectedValue.value = absence.stored(newValue) }
  }
}

extension Password where Value == String? {
  /// Declares a password.
  ///
  /// - Parameters:
  ///   - account: The account, or the name of a token; what tells it from the others of a service.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name that several programs of one maker share it under; part of the key.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ account: String, service: String? = nil, accessGroup: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(account, service, accessGroup, storage, .isNil)
  }
}

extension Password where Value == String {
  /// Declares a password that has a value even when none is stored.
  ///
  /// - Parameters:
  ///   - account: The account, or the name of a token; what tells it from the others of a service.
  ///   - default: The value when there is no item, or when it cannot be read; never stored.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name that several programs of one maker share it under; part of the key.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ account: String, default: String, service: String? = nil, accessGroup: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(account, service, accessGroup, storage, .isDefault(`default`))
  }
}
