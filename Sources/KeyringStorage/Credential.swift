/// A login and its password, stored together as one item.
public struct Credential: Sendable, Equatable {
  /// The login; it is stored in the clear, as an attribute that can be searched for.
  public var login: String

  /// The password, in memory that is wiped on release; always UTF-8.
  private(set) var secret: Secret

  /// Makes a credential.
  ///
  /// - Parameters:
  ///   - login: The login; stored in the clear.
  ///   - password: The password.
  public init(login: String, password: String) {
    self.login = login
    self.secret = Secret(password)
  }

  /// The password as text.
  public var password: String {
    // The initializers let in nothing that is not UTF-8.
    get { secret.text ?? "" }
    set { secret = Secret(newValue) }
  }

  /// Compares two credentials byte by byte, the passwords in constant time.
  ///
  /// - Parameters:
  ///   - lhs: A credential.
  ///   - rhs: Another credential.
  /// - Returns: Whether login and password are the same.
  public static func == (lhs: Credential, rhs: Credential) -> Bool {
    lhs.login.isExactly(rhs.login) && lhs.secret == rhs.secret
  }

  init?(login: String, secret: Secret) {
    guard secret.isUTF8 else { return nil }
    self.login = login
    self.secret = secret
  }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The login, and a word that stands for the password.
  public var description: String { "Credential(login: \(login), password: \(secret))" }
  /// The login, and a word that stands for the password.
  public var debugDescription: String { description }
  /// A mirror that shows the login only.
  public var customMirror: Mirror { Mirror(self, children: ["login": login]) }
}
