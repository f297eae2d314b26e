/// The passwords of one server, by account alone.
///
/// ```swift
/// let server = storage.server(InternetServer("git.example.org", protocol: .https))
/// try server.setPassword("s3cret", for: "ada")
/// ```
public struct ServerScope: Sendable {
  /// Where the passwords are.
  public let storage: any SecureStorage
  /// The server that they belong to.
  public let server: InternetServer

  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func password(for account: String) throws(SecureStorageError) -> String? {
    try storage.password(for: key(account))
  }

  /// Stores the password of an account.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes it.
  ///   - account: The account.
  ///   - mode: What to do when there is one already, or is not.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setPassword(
    _ password: String?, for account: String, _ mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try storage.setPassword(password, for: key(account), mode)
  }

  /// Removes the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removePassword(for account: String) throws(SecureStorageError) -> Bool {
    try storage.remove(key(account))
  }

  /// Lists the accounts that have a password on the server, in alphabetical order.
  ///
  /// - Returns: The accounts; those at another port or path of the same host are not among them.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func accounts() throws(SecureStorageError) -> [String] {
    try accounts(storage.items(matching: query))
  }

  func accounts(_ items: [SecureItem]) -> [String] {
    items.compactMap { item in
      guard let account = item.key.attributes[AttributeName.user] else { return nil }
      return item.key == key(account) ? account : nil
    }
    .sorted()
  }

  /// Removes every password that has the parts of ``server`` which are given, and maybe more: for a
  /// bare host those of all its ports and paths.
  ///
  /// On the Secret Service those that other programs have stored are removed as well, such as git's.
  ///
  /// - Returns: How many were removed.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> Int {
    try storage.removeItems(matching: query)
  }

  var query: ItemQuery {
    ItemQuery(kind: .internetPassword, attributes: server.attributes)
  }

  func key(_ account: String) -> ItemKey {
    .internetPassword(server: server, account: account)
  }
}

extension SecureStorage {
  /// The passwords of one server.
  ///
  /// - Parameter server: The server, as far as it matters.
  /// - Returns: The scope.
  public func server(_ server: InternetServer) -> ServerScope {
    ServerScope(storage: self, server: server)
  }
}
