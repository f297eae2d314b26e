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
public struct InternetPassword: Sendable {
  /// The throwing operations, and what went wrong with the plain ones.
  public let projectedValue: SecureProperty<String>

  /// Declares the password of an account on a server.
  ///
  /// - Parameters:
  ///   - server: The server, as far as it matters.
  ///   - account: The account on that server, if it has several.
  ///   - storage: Where it is kept; by default the storage in force when the property is used.
  public init(
    _ server: InternetServer, account: String? = nil, storage: (any SecureStorage)? = nil
  ) {
    let name = account.map { "\($0)@\(server.host)" } ?? server.host
    projectedValue = SecureProperty(name: name, storage: storage, as: .text) {
      .internetPassword(server: server, account: account)
    }
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

  /// The password; `nil` when there is none, or when it cannot be read.
  public var wrappedValue: String? {
    get { projectedValue.value }
    nonmutating set { projectedValue.value = newValue }
  }
}
