public import KeyringStorage

/// A property whose value is the password of an account on a server.
///
/// ```swift
/// struct SecureSettings {
///   @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
/// }
/// ```
///
/// A getter and a setter cannot throw; what went wrong is in `$gitPassword.failure`.
@propertyWrapper
public struct InternetPassword<Value: Sendable>: Sendable {
  /// The throwing operations, and what went wrong with the plain ones.
  public let projectedValue: SecureProperty<String>
  private let absence: Absence<String, Value>

  private init(
    _ server: InternetServer, _ account: String?, _ storage: (any SecureStorage)?,
    _ absence: Absence<String, Value>
  ) {
    let name = account.map { "\($0)@\(server.host)" } ?? server.host
    projectedValue = SecureProperty(
      name: name, storage: storage, as: .text,
      key: .fixed(.internetPassword(server: server, account: account)))
    self.absence = absence
  }

  /// The password; `nil` or the default when there is none, or when it cannot be read.
  public var wrappedValue: Value {
    get { absence.value(projectedValue.value) }
    nonmutating set { projectedValue.value = absence.stored(newValue) }
  }
}

extension InternetPassword where Value == String? {
  /// Declares the password of an account on a server.
  ///
  /// - Parameters:
  ///   - server: The server, as far as it matters.
  ///   - account: The account on that server, if it has several.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ server: InternetServer, account: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(server, account, storage, .isNil)
  }

  /// Declares the password of an account on a server.
  ///
  /// - Parameters:
  ///   - server: The name or address of the host.
  ///   - account: The account on that server, if it has several.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    server: String, account: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(InternetServer(server), account: account, storage: storage)
  }
}

extension InternetPassword where Value == String {
  /// Declares the password of an account on a server, with a value even when none is stored.
  ///
  /// - Parameters:
  ///   - server: The server, as far as it matters.
  ///   - default: The value when there is no item, or when it cannot be read; never stored.
  ///   - account: The account on that server, if it has several.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ server: InternetServer, default: String, account: String? = nil,
    storage: (any SecureStorage)? = nil
  ) {
    self.init(server, account, storage, .isDefault(`default`))
  }

  /// Declares the password of an account on a server, with a value even when none is stored.
  ///
  /// - Parameters:
  ///   - server: The name or address of the host.
  ///   - default: The value when there is no item, or when it cannot be read; never stored.
  ///   - account: The account on that server, if it has several.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    server: String, default: String, account: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    self.init(InternetServer(server), default: `default`, account: account, storage: storage)
  }
}
