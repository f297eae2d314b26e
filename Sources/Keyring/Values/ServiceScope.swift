// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The items of one service, identified only by their accounts or labels.
///
/// ```swift
/// let service = storage.service("org.example.app")
/// try service.password("authToken").write("s3cret")
/// try service.names()  // ["authToken"]
/// ```
public struct ServiceScope: Sendable {
  package let storage: any SecureStorage
  package let service: String
  let accessGroup: String?

  /// Returns the handle of a password.
  ///
  /// ```swift
  /// try service.password("authToken").write("s3cret")
  /// let token = try service.password("authToken").read()
  /// ```
  ///
  /// - Parameter account: The account.
  /// - Returns: The handle, whether or not there is such a password.
  public func password(_ account: String) -> StoredValue<String> {
    storage[.password(service: service, account: account, accessGroup: accessGroup), as: .text]
  }

  /// Returns the handle of a credential.
  ///
  /// ```swift
  /// let login = try service.credential("account").read()?.login
  /// ```
  ///
  /// - Parameter label: The name of the credential.
  /// - Returns: The handle, whether or not there is such a credential.
  public func credential(_ label: String) -> StoredValue<Credential> {
    storage[.credentials(service: service, label: label), as: .credential]
  }

  /// Returns the handle of a value.
  ///
  /// ```swift
  /// let session = try service.value("session", as: OAuthSession.self).read()
  /// ```
  ///
  /// - Parameters:
  ///   - account: The name of the value.
  ///   - type: The type of the value.
  /// - Returns: The handle, whether or not there is such a value.
  public func value<Value: Codable & Sendable>(
    _ account: String, as type: Value.Type = Value.self
  ) -> StoredValue<Value> {
    storage[.value(service: service, account: account, accessGroup: accessGroup), as: .value(type)]
  }

  /// Lists the accounts of the items of a kind, or the labels of credentials, in alphabetical order.
  ///
  /// ```swift
  /// for account in try service.names() { print(account) }
  /// ```
  ///
  /// - Parameter kind: The kind of the items.
  /// - Returns: The names.
  /// - Throws: `SecureStorageError` for a failed read.
  public func names(of kind: ItemKind = .password) throws(SecureStorageError) -> [String] {
    names(of: kind, try storage.items(matching: query(kind)))
  }

  /// Lists the accounts of the items of a kind, or the labels of credentials, suspending the task.
  ///
  /// - Parameter kind: The kind of the items.
  /// - Returns: The names.
  /// - Throws: `SecureStorageError` for a failed read, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func names(
    of kind: ItemKind = .password
  ) async throws(SecureStorageError) -> [String] {
    names(of: kind, try await storage.items(matching: query(kind)))
  }

  /// Removes all items of the service, regardless of their kind, or those of the access group if the scope
  /// has one.
  ///
  /// It leaves the items that are another program's own, and names them.
  ///
  /// ```swift
  /// let outcome = try service.removeAll()
  /// print("removed \(outcome.count) items")
  /// ```
  ///
  /// - Returns: The number of removed items, and the items that were left.
  /// - Throws: `SecureStorageError` for a failed change.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> BulkOutcome {
    let count = try storage.removeItems(matching: query())
    return outcome(count, try storage.items(matching: queryOfAll))
  }

  /// Removes all items of the service, or those of the access group, suspending the task.
  ///
  /// - Returns: The number of removed items, and the items that were left.
  /// - Throws: `SecureStorageError` for a failed change, or `.canceled` for a cancelled task. Items may have been
  ///   removed by then.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> BulkOutcome {
    let count = try await storage.removeItems(matching: query())
    return outcome(count, try await storage.items(matching: queryOfAll))
  }

  private func names(of kind: ItemKind, _ items: [SecureItem]) -> [String] {
    if kind == .credentials { return items.compactMap(\.key.label).sorted() }
    return items.filter { $0.key.attributes[AttributeName.accessGroup] == accessGroup }
      .compactMap(\.key.account).sorted()
  }

  private func outcome(_ count: Int, _ rest: [SecureItem]) -> BulkOutcome {
    BulkOutcome(count: count, left: rest.filter(\.isForeign).map(\.key))
  }

  /// A query for all items of the scope, and those that are another program's own, which isn't unlocked for a name.
  private var queryOfAll: ItemQuery {
    var all = query()
    (all.leavesForeignItems, all.allowsUnlocking) = (false, false)
    return all
  }

  /// Returns a query for the items of a kind, or of all kinds.
  private func query(_ kind: ItemKind? = nil) -> ItemQuery {
    var query = ItemQuery.service(service, kind: kind)
    // Credentials have no access group.
    if kind != .credentials { query.attributes[AttributeName.accessGroup] = accessGroup }
    query.leavesForeignItems = true
    return query
  }
}

extension SecureStorage {
  /// Returns a scope for the items of one service.
  ///
  /// ```swift
  /// let service = SecretServiceStorage().service("org.example.app")
  /// try service.password("me").write("s3cret")
  /// ```
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - accessGroup: The access group of the passwords and values.
  /// - Returns: The scope.
  public func service(_ service: String, accessGroup: String? = nil) -> ServiceScope {
    ServiceScope(storage: self, service: service, accessGroup: accessGroup)
  }
}
