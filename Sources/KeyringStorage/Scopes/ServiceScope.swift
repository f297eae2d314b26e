// SPDX-License-Identifier: Apache-2.0

/// The items of one service, identified only by their accounts or labels.
///
/// ```swift
/// let service = storage.service("org.example.app")
/// try service.setPassword("s3cret", for: "authToken")
/// try service.accounts()  // ["authToken"]
/// ```
public struct ServiceScope: Sendable {
  /// The storage that holds the items.
  public let storage: any SecureStorage
  /// The service that the items belong to.
  public let service: String
  /// The access group that the passwords and values belong to, if any.
  public let accessGroup: String?

  // MARK: Passwords

  /// Reads the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: The password, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func password(for account: String) throws(SecureStorageError) -> String? {
    try storage.password(for: passwordKey(account))
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
    try storage.setPassword(password, for: passwordKey(account), mode: mode)
  }

  /// Removes the password of an account.
  ///
  /// - Parameter account: The account.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removePassword(for account: String) throws(SecureStorageError) -> Bool {
    try storage.remove(passwordKey(account))
  }

  /// Lists the accounts that have a password, in alphabetical order.
  ///
  /// - Returns: The accounts.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func accounts() throws(SecureStorageError) -> [String] {
    try accounts(storage.items(matching: query(.password)))
  }

  // MARK: Credentials

  /// Reads a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func credential(labeled label: String) throws(SecureStorageError) -> Credential? {
    try storage.credential(for: .credentials(service: service, label: label))
  }

  /// Stores a credential, or removes it.
  ///
  /// - Parameters:
  ///   - credential: The login and the password, or `nil` to remove them.
  ///   - label: The name of the credential.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setCredential(
    _ credential: Credential?, labeled label: String, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try storage.setCredential(
      credential, for: .credentials(service: service, label: label), mode: mode)
  }

  /// Removes a credential.
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removeCredential(labeled label: String) throws(SecureStorageError) -> Bool {
    try storage.remove(.credentials(service: service, label: label))
  }

  /// Lists the names of the credentials, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func credentialLabels() throws(SecureStorageError) -> [String] {
    try labels(storage.items(matching: .service(service, kind: .credentials)))
  }

  // MARK: Values

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - account: The name of the value.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: `.undecodable` if the value isn't of that type, or another error if the storage can't be
  ///   read.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type, for account: String
  ) throws(SecureStorageError) -> Value? {
    try storage.value(type, for: valueKey(account))
  }

  /// Stores a value, or removes it.
  ///
  /// - Parameters:
  ///   - value: The value, or `nil` to remove it.
  ///   - account: The name of the value.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  public func setValue<Value: Codable & Sendable>(
    _ value: Value?, for account: String, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try storage.setValue(value, for: valueKey(account), mode: mode)
  }

  /// Removes a value.
  ///
  /// - Parameter account: The name of the value.
  /// - Returns: `true` if there was one.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removeValue(for account: String) throws(SecureStorageError) -> Bool {
    try storage.remove(valueKey(account))
  }

  /// Lists the names of the values, in alphabetical order.
  ///
  /// - Returns: The names.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func valueAccounts() throws(SecureStorageError) -> [String] {
    try accounts(storage.items(matching: query(.value)))
  }

  // MARK: Everything

  /// Removes all items of the service, regardless of their kind, or those of the access group if the scope
  /// has one.
  ///
  /// It leaves the items that are another program's own, and names them.
  ///
  /// - Returns: The number of removed items, and the items that were left.
  /// - Throws: `SecureStorageError` if the storage can't be changed.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> BulkOutcome {
    let count = try storage.removeItems(matching: query())
    return BulkOutcome(count: count, left: foreignKeys(try storage.items(matching: queryOfAll)))
  }

  /// A query for all items of the scope, and those that are another program's own, which isn't unlocked for a name.
  var queryOfAll: ItemQuery {
    var all = query()
    (all.leavesForeignItems, all.allowsUnlocking) = (false, false)
    return all
  }

  func foreignKeys(_ items: [SecureItem]) -> [ItemKey] { items.filter(\.isForeign).map(\.key) }

  func accounts(_ items: [SecureItem]) -> [String] {
    items.map(\.key.attributes)
      .filter { $0[AttributeName.accessGroup] == accessGroup }
      .compactMap { $0[AttributeName.username] }.sorted()
  }

  func labels(_ items: [SecureItem]) -> [String] {
    items.compactMap { $0.key.attributes[AttributeName.label] }.sorted()
  }

  /// Returns a query for the items of a kind, or of all kinds.
  func query(_ kind: ItemKind? = nil) -> ItemQuery {
    var attributes = [AttributeName.service: service]
    attributes[AttributeName.accessGroup] = accessGroup
    var query = ItemQuery(kind: kind, attributes: attributes)
    query.leavesForeignItems = true
    return query
  }

  func passwordKey(_ account: String) -> ItemKey {
    .password(service: service, account: account, accessGroup: accessGroup)
  }

  func valueKey(_ account: String) -> ItemKey {
    .value(service: service, account: account, accessGroup: accessGroup)
  }
}

extension SecureStorage {
  /// Returns a scope for the items of one service.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - accessGroup: The access group of the passwords and values, if any.
  /// - Returns: The scope.
  public func service(_ service: String, accessGroup: String? = nil) -> ServiceScope {
    ServiceScope(storage: self, service: service, accessGroup: accessGroup)
  }
}
