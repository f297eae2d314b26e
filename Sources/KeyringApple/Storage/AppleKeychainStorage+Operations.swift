// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension AppleKeychainStorage {
  /// Stores an item under its key, in one call that changes all of its parts together.
  ///
  /// ```swift
  /// let key = ItemKey.password(service: "org.example.app", account: "authToken")
  /// try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .addOrReplace)
  /// ```
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode.
  /// - Throws: The errors of every storage, `.noStorage` or `.accessDenied` for a missing entitlement, `.locked` or
  ///   `.userCanceled`.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try validateOptions(during: .save)
    let operation = try KeychainOperation(self, .save)
    switch mode {
    case .add:
      if try !operation.add(item) { throw error(.itemAlreadyExists, during: .save) }
    case .update:
      if try !operation.change(item) { throw error(.itemNotFound, during: .save) }
    case .addOrReplace: try operation.store(item)
    }
  }

  /// Returns the items that match a query, newest first.
  ///
  /// A query without a key finds items of all access groups, of other programs, too.
  ///
  /// - Parameter query: The conditions for the items, and the parts to fetch.
  /// - Returns: The items.
  /// - Throws: `.noStorage` for a missing entitlement, `.locked` for an item that can't be read now, or another error
  ///   of the keychain.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    let operation = try KeychainOperation(self, .read, mayAsk: query.allowsUnlocking)
    let needsSecrets = query.details.contains(.secret)
    if let key = query.key, needsSecrets {
      guard let item = try operation.item(for: key, hasData: true)?.item, query.matches(item) else {
        return []
      }
      return [item.selecting(query.details)]
    }
    let found = try operation.items(matching: query)
    var items: [SecureItem] = []
    for (index, item) in found.enumerated() {
      if needsSecrets {
        query.onProgress?(index, found.count)
        do throws(SecureStorageError) {
          if let item = try operation.withSecret(item) { items.append(item.item) }
        } catch {
          guard error.code == .locked, !query.allowsUnlocking else { throw error }
          items.append(item.item)
          items[items.endIndex - 1].isLocked = true
        }
      } else {
        items.append(item.item)
      }
    }
    return items.map { $0.selecting(query.details) }
  }

  /// Finds out whether the keychain can be read, and if you ask for it, written.
  ///
  /// Its protection is `.keyring`: a program isn't told what protects the keychain.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    diagnosisByUse(writing: writing, protection: .keyring)
  }

  /// Removes the items that match a query.
  ///
  /// A query without a key removes items of all access groups that the program may use. An item
  /// to which another program gives another key at the same moment may be removed, too.
  ///
  /// - Parameter query: The conditions for the items. It must name a key, an attribute, or a label.
  /// - Returns: The number of items that were removed.
  /// - Throws: `.invalidArgument` for an empty query, `.accessDenied` for an item of another program, or another error
  ///   of the keychain.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    let operation = try KeychainOperation(self, .remove, mayAsk: query.allowsUnlocking)
    if let key = query.key {
      if !query.asksForKeyOnly, try operation.items(matching: query).isEmpty { return 0 }
      guard let entries = try operation.query(for: key) else { return 0 }
      guard try operation.delete(entries) else { return 0 }
      // In the file, another item can have the key in the other form of no authentication type.
      guard !query.leavesOthers, entries[.matchedItems] != nil,
        let other = try operation.query(for: key)
      else { return 1 }
      return try operation.delete(other) ? 2 : 1
    }
    var count = 0
    for item in try operation.items(matching: query) {
      guard let reference = item.reference else { continue }
      if try operation.delete([.persistentReference: reference]) { count += 1 }
    }
    return count
  }

  /// Gives an item the accessibility and the access control of this storage's new items.
  ///
  /// ```swift
  /// let storage = AppleKeychainStorage(.dataProtection(accessibility: .whenUnlocked))
  /// try storage.updateProtection(of: .password(service: "org.example.app", account: "authToken"))
  /// ```
  ///
  /// - Parameter key: The key of the item.
  /// - Throws: `.itemNotFound`, `.invalidArgument` for the file-based keychain, or another error of the keychain.
  public func updateProtection(of key: ItemKey) throws(SecureStorageError) {
    try validate(key, for: .save)
    try validateOptions(during: .save)
    let operation = try KeychainOperation(self, .save)
    if keychain.isFileBased {
      throw error(
        .invalidArgument, during: .save, message: "The file-based keychain has no accessibility.",
        argument: "keychain")
    }
    guard let query = try operation.query(for: key),
      try operation.update(query, operation.protection)
    else { throw error(.itemNotFound, during: .save) }
  }

  /// Gives an item the accessibility and the access control of this storage's new items, on a thread of its own.
  ///
  /// - Parameter key: The key of the item.
  /// - Throws: The errors of the synchronous form, and `.canceled` in a cancelled task.
  public nonisolated(nonsending) func updateProtection(
    of key: ItemKey
  ) async throws(SecureStorageError) {
    try await blocking(.save) { () throws(SecureStorageError) in try updateProtection(of: key) }
  }

  /// Refuses options that exclude each other.
  private func validateOptions(
    during operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    guard keychain.isSynchronizable else { return }
    guard !keychain.accessControl.isEmpty || keychain.level.staysOnDevice else { return }
    throw error(
      .invalidArgument, during: operation,
      message: "Items that devices share can't stay on one device, and have no access control.",
      argument: "keychain")
  }
}
