// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage

extension SecureProperties {
  /// Reads all properties.
  ///
  /// Properties without their own storage are read together. On the Secret Service, one search for each of them is
  /// sent at the same time, and then one request for all secrets.
  ///
  /// ```swift
  /// let values = try properties.readAll()
  /// let token = try values[settings.$authToken]
  /// ```
  ///
  /// - Returns: The values.
  /// - Throws: `SecureStorageError` for the first failure. A value is decoded only when you ask for it, so its decoding
  ///   errors are thrown then.
  public func readAll() throws(SecureStorageError) -> SecureProperties.Values {
    for member in members { member.noteRead() }
    return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await readAll()
    }
  }

  /// Reads all properties asynchronously.
  ///
  /// Properties without their own storage are read together. On the Secret Service, one search for each of them is
  /// sent at the same time, and then one request for all secrets.
  ///
  /// ```swift
  /// let values = try await properties.readAll()
  /// let token = try values[settings.$authToken]
  /// ```
  ///
  /// - Returns: The values.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task.
  public nonisolated(nonsending) func readAll() async throws(SecureStorageError)
    -> SecureProperties.Values
  {
    var values = SecureProperties.Values()
    for part in parts { values.add(try await part.items(part.details), to: part) }
    return values
  }

  /// Removes all items.
  ///
  /// After a failure to remove one item, the others are removed all the same.
  ///
  /// ```swift
  /// let outcome = try properties.removeAll()
  /// print("removed \(outcome.count), left \(outcome.left)")
  /// ```
  ///
  /// - Returns: The number of removed items, and what else the services and servers of the properties have.
  /// - Throws: The first `SecureStorageError`, after trying to remove all items.
  @discardableResult
  public func removeAll() throws(SecureStorageError) -> BulkOutcome {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await removeAll() }
  }

  /// Removes all items asynchronously.
  ///
  /// After a failure to remove one item, the others are removed all the same.
  ///
  /// ```swift
  /// try await properties.removeAll()
  /// ```
  ///
  /// - Returns: The number of removed items, and what else the services and servers of the properties have.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> BulkOutcome {
    var count = 0
    var failure: SecureStorageError?
    var removed: Set<ItemKey> = []
    for (member, isOfCurrentStorage) in members.map({ ($0.resolved, !$0.hasExplicitStorage) }) {
      // Several properties can declare the same item. A second removal could remove another program's.
      if isOfCurrentStorage, removed.contains(member.key) {
        member.forgetFailure()
        continue
      }
      do throws(SecureStorageError) {
        if try await member.removeWithoutBlocking() { count += 1 }
        if isOfCurrentStorage { removed.insert(member.key) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return BulkOutcome(count: count, left: try await leftItems())
  }

  /// Returns the keys of all items that have the service or the server of a property.
  private nonisolated(nonsending) func leftItems() async throws(SecureStorageError) -> [ItemKey] {
    var left: [ItemKey] = []
    for part in parts {
      let services = Set(part.keys.compactMap(\.service))
      let servers = Set(part.keys.compactMap { $0.service == nil ? $0.server?.host : nil })
      for (name, values) in [(AttributeName.service, services), (AttributeName.server, servers)] {
        for value in values {
          let query = ItemQuery(attributes: [name: value], allowsUnlocking: false)
          left += try await part.storage.items(matching: query).map(\.key)
        }
      }
    }
    var seen: Set<ItemKey> = []
    return left.filter { seen.insert($0).inserted }
  }

  /// Copies all items to another storage.
  ///
  /// The copies have the same keys, labels, and attributes. For a property that is `nil`, the other storage stays as it
  /// is.
  ///
  /// ```swift
  /// try properties.copy(to: SecretServiceStorage())
  /// ```
  ///
  /// - Parameters:
  ///   - storage: The storage to copy the items to.
  ///   - mode: The save mode for items that already exist there. With `.add`, copying stops at the first
  ///     one.
  /// - Returns: The number of copied items.
  /// - Throws: `SecureStorageError` for the first failure. The items before it have been copied.
  @discardableResult
  public func copy(
    to storage: any SecureStorage, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) -> Int {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await copy(to: storage, mode: mode)
    }
  }

  /// Copies all items to another storage asynchronously.
  ///
  /// The copies have the same keys, labels, and attributes. For a property that is `nil`, the other storage stays as it
  /// is.
  ///
  /// - Parameters:
  ///   - storage: The storage to copy the items to.
  ///   - mode: The save mode for items that already exist there. With `.add`, copying stops at the first
  ///     one.
  /// - Returns: The number of copied items.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task.
  @discardableResult
  public nonisolated(nonsending) func copy(
    to storage: any SecureStorage, mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) -> Int {
    var items: [SecureItem] = []
    for part in parts {
      let found = try await part.items(.all)
      items += part.keys.compactMap { found[$0] }
    }
    // Two properties can have the same key.
    var seen: Set<ItemKey> = []
    items = items.filter { seen.insert($0.key).inserted }
    let box = StorageBox(storage)
    for item in items {
      let change = TrackedItems.beginChange(of: item.key, in: box)
      defer { change?.end() }
      try await storage.save(item.sanitized, mode: mode)
    }
    return items.count
  }
}
