public import KeyringStorage

/// A property whose value, of any type that can be encoded, is kept in the user's keyring.
///
/// `Data` and `[UInt8]` are stored as their own bytes, everything else as JSON.
///
/// ```swift
/// struct SecureSettings {
///   @SecureValue("session") var session: OAuthSession?
/// }
/// ```
///
/// One that is declared without arguments, to get them in `init`, names the type of what is stored
/// and that of the property: `@SecureValue<OAuthSession, OAuthSession?> var session: OAuthSession?`.
///
/// A getter and a setter cannot throw; what went wrong is in `$session.failure`. A stored value of
/// another type is such a failure, and stays as it is.
@propertyWrapper
public struct SecureValue<Stored: Codable & Sendable, Value: Sendable>: Sendable {
  /// The throwing operations, and what went wrong with the plain ones.
  public let projectedValue: SecureProperty<Stored>
  private let absence: Absence<Stored, Value>

  private init(
    _ account: String, _ service: String?, _ accessGroup: String?,
    _ storage: (any SecureStorage)?, _ absence: Absence<Stored, Value>
  ) {
    projectedValue = SecureProperty(
      name: account, storage: storage, as: .value,
      key: PropertyKey(of: service) {
        .value(service: $0, account: account, accessGroup: accessGroup)
      })
    self.absence = absence
  }

  /// The value; `nil` or the default when there is none, or when it cannot be read.
  public var wrappedValue: Value {
    get { absence.value(projectedValue.value) }
    nonmutating set { projectedValue.value = absence.stored(newValue) }
  }
}

extension SecureValue where Value == Stored? {
  /// Declares a value.
  ///
  /// - Parameters:
  ///   - account: The name of the value; what tells it from the others of a service.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name that several programs of one maker share it under.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ account: String, service: String? = nil, accessGroup: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(account, service, accessGroup, storage, .isNil)
  }
}

extension SecureValue where Value == Stored {
  /// Declares a value that is there even when none is stored.
  ///
  /// - Parameters:
  ///   - account: The name of the value; what tells it from the others of a service.
  ///   - default: The value when there is no item, or when it cannot be read; never stored.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - accessGroup: The name that several programs of one maker share it under.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ account: String, default: Stored, service: String? = nil, accessGroup: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(account, service, accessGroup, storage, .isDefault(`default`))
  }
}
