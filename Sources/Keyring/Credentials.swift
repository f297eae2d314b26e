public import KeyringStorage

/// A property whose value is a login and its password, one item in the user's keyring.
///
/// Both change at once: whatever happens, a reader finds the old pair or the new one.
///
/// ```swift
/// struct SecureSettings {
///   @Credentials("account") var account: Credential?
/// }
///
/// let settings = SecureSettings()
/// settings.account = Credential(login: "me@example.org", password: "s3cret")
/// ```
///
/// A getter and a setter cannot throw; what went wrong is in `$account.failure`.
@propertyWrapper
public struct Credentials<Value: Sendable>: Sendable {
  /// The throwing operations, and what went wrong with the plain ones.
  public let projectedValue: SecureProperty<Credential>
  private let absence: Absence<Credential, Value>

  private init(
    _ label: String, _ service: String?, _ storage: (any SecureStorage)?,
    _ absence: Absence<Credential, Value>
  ) {
    projectedValue = SecureProperty(
      name: label, storage: storage, as: .credential,
      key: PropertyKey(of: service) { .credentials(service: $0, label: label) })
    self.absence = absence
  }

  /// Login and password; `nil` or the default when there are none, or when they cannot be read.
  public var wrappedValue: Value {
    get { absence.value(projectedValue.value) }
    nonmutating set { projectedValue.value = absence.stored(newValue) }
  }
}

extension Credentials where Value == Credential? {
  /// Declares a credential.
  ///
  /// - Parameters:
  ///   - label: The name of the credential, by which it is found whatever its login.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ label: String, service: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(label, service, storage, .isNil)
  }
}

extension Credentials where Value == Credential {
  /// Declares a credential that has a value even when none is stored.
  ///
  /// - Parameters:
  ///   - label: The name of the credential, by which it is found whatever its login.
  ///   - default: The value when there is no item, or when it cannot be read; never stored.
  ///   - service: The app or service it belongs to; by default ``SecureStorageDefaults/service``.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ label: String, default: Credential, service: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(label, service, storage, .isDefault(`default`))
  }
}
