// SPDX-License-Identifier: Apache-2.0

/// The passwords of one server, identified only by their accounts.
///
/// ```swift
/// let server = storage.server(InternetServer("git.example.org", protocol: .https))
/// try server.setPassword("s3cret", for: "ada")
/// ```
public struct ServerScope: Sendable {
  /// The storage that holds the passwords.
  public let storage: any SecureStorage
  /// The server that the passwords belong to.
  public let server: InternetServer

  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func password(for account: String) throws(SecureStorageError) -> String? {
    try storage.password(for: key(account))
  }

  /// Stores the password of an account, or removes it.
  ///
  /// - Parameters:
  ///   - password: The password, or `nil` to remove it.
  ///   - account: The account.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setPassword(
    _ password: String?, for account: String, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try storage.setPassword(password, for: key(account), mode: mode)
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
  /// - Returns: The accounts, without the accounts at another port or path of the same host.
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

  /// Removes every password that has the specified parts of the server.
  ///
  /// A password may have more parts than ``server`` specifies. If you specify only a host, the method
  /// removes the passwords of all its ports and paths. On the Secret Service, it also removes the passwords
  /// that other programs, such as git, have stored.
  ///
  /// - Returns: The number of passwords that were removed.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> Int {
    try storage.removeItems(matching: query)
  }

  var query: ItemQuery { ItemQuery(kind: .internetPassword, attributes: server.attributes) }

  func key(_ account: String) -> ItemKey { .internetPassword(server: server, account: account) }
}

extension SecureStorage {
  /// Returns a scope for the passwords of one server.
  ///
  /// - Parameter server: The server. Specify only the parts that matter.
  /// - Returns: The scope.
  public func server(_ server: InternetServer) -> ServerScope {
    ServerScope(storage: self, server: server)
  }
}
