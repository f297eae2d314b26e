// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: LockableStorage {
  /// Stores an item under its key.
  ///
  /// - Parameters:
  ///   - item: The key, and the values to store under it.
  ///   - mode: The save mode.
  /// - Throws: `SecureStorageError` if the item can't be stored. `.locked` and `.userCanceled` leave the
  ///   old item unchanged.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    defer { noteWrite(of: item.key) }
    try CallLoop.runToEnd { () async throws(SecureStorageError) in try await store(item, mode: mode)
    }
  }

  /// Finds items, newest first.
  ///
  /// A login and its password always belong together. A label or another attribute is read just before the
  /// secret. The secret may have been replaced in between.
  ///
  /// - Parameter query: A query for the items, which also names the details to fetch.
  /// - Returns: The found items, including those of other programs.
  /// - Throws: `SecureStorageError` if the answer isn't known. It's `.ambiguous` if a key matches several
  ///   items of other programs and none of this package.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in try await find(query) }
  }

  /// Finds the item stored under a key.
  ///
  /// This takes one step if the item was read or written before.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: The details of the item to fetch.
  /// - Returns: The item, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the answer isn't known. It's `.ambiguous` if the key matches several
  ///   items of other programs and none of this package.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try items(for: [key], details: details)[key]
  }

  /// Finds the items stored under keys, with as many waits as for one item.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in
      try await find(keys, details)
    }
  }

  /// Removes the items that ``items(matching:)`` finds.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { noteWrite(of: query.key) }
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in try await remove(query) }
  }

  /// Finds out whether the keyring works in this environment.
  ///
  /// The diagnosis covers the sandbox, the session bus, the provider of the service and the way that
  /// secrets are transferred. It also covers whether the collection exists, is unlocked and can be
  /// searched. Only `writing` shows whether an item can be created.
  ///
  /// The user isn't asked anything. A keyring that isn't running is started, as by any other use.
  ///
  /// The diagnosis takes at most ``Options/serviceTimeout``, and the same time again for each of the three
  /// operations of `writing`. If the keyring doesn't answer in that time, the findings contain `.timedOut`
  /// and the identity of the keyring. It takes at most one more second to find out the identity.
  ///
  /// - Parameter writing: A Boolean value that indicates whether to store, read and remove an item in the
  ///   collection, if that doesn't require a question to the user.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var examination = CallLoop.runToEnd { await examined() }
    if writing { examination.addWriting() }
    return examination.diagnosis
  }

  /// Locks the collection for every program.
  ///
  /// - Throws: `SecureStorageError` if the collection can't be locked. It's `.other` if the keyring reports
  ///   success and the collection is still unlocked. Some keyrings do that with the session collection.
  public func lock() throws(SecureStorageError) {
    defer { noteWrite(of: nil) }
    try CallLoop.runToEnd(lockCollection)
  }

  /// Unlocks the collection for every program.
  ///
  /// The keyring asks the user for the collection's password.
  ///
  /// - Throws: `.locked` if the user can't be asked, `.userCanceled` if the user declined.
  public func unlock() throws(SecureStorageError) {
    try CallLoop.runToEnd(unlockCollection)
  }

  /// Returns `true` if the collection is locked.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try CallLoop.runToEnd(isCollectionLocked)
  }
}
#endif
