// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
public import KeyringStorage

extension EtcdStorage {
  // MARK: - Reading

  /// Returns the items stored under keys, as they were at one moment.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key), for: .read) }
    return try await fleet.items.whileReading(keys) { () throws(SecureStorageError) in
      try await FleetOperation.perform(.read, on: fleet) { (operation) throws(SecureStorageError) in
        try await operation.items(for: keys, details: details)
      }
    }
  }

  /// Returns the items that match a query, newest first, as they were at one moment.
  ///
  /// - Parameter query: The query that selects the items and their details.
  /// - Returns: The items.
  /// - Throws: `SecureStorageError` from the cluster.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if query.asksForKeyOnly, let key = query.key {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    return try await FleetOperation.perform(.read, on: fleet) {
      (operation) throws(SecureStorageError) in
      try await operation.items(matching: query) { $0.item(query.details) }
    }
  }

  // MARK: - Saving

  /// Stores an item under its key.
  ///
  /// The item is replaced as a whole and in a single step, for the whole fleet. After a lost connection, the storage
  /// finds out from the cluster whether the item was stored.
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode. `.add` and `.update` are exact, also among machines that save at the same moment.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, or `.invalidArgument`. After `.connectionLost` or `.canceled`,
  ///   the item may have been stored. After any other error, it wasn't.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try validateForFleet(item)
    try await FleetOperation.perform(.save, on: fleet) { (operation) throws(SecureStorageError) in
      var known = fleet.items[item.key]
      var secret = item.secret
      // A write that fails costs the cluster as much as one that succeeds. A read costs less.
      var mustRead = secret == nil || mode != .add && known == nil
      var keys = try await operation.keys()
      while true {
        if mustRead {
          let old: FleetItem?
          (keys, old) = try await operation.storedItem(for: item.key)
          known = old.map(KnownItems.Item.init)
          secret = item.secret ?? old?.secret
          mustRead = false
          if mode == .update, known == nil { throw fleet.settings.error(.itemNotFound) }
        }
        if mode == .add { known = nil }
        let secret = if let secret { secret } else { try requireSecret(item) }
        let id = [UInt8].random(FleetItem.writeIDByteCount)
        let place = keys.names.item(item.key)
        let record = ItemRecord(saving: item, over: known?.record)
        guard let value = try? keys.seal(FleetItem(record, secret, writeID: id), place) else {
          throw fleet.settings.error(.other, "The item can't be encrypted.")
        }
        let change = ConditionalChange(key: place, revision: known?.revision ?? 0, value: value)
        switch try await operation.commit(
          [change], service: keys.names.service(of: item.key), keys, id: id)
        {
        case .done(let revision):
          fleet.items[item.key] = .init(record: record, revision: revision)
          return
        case .otherKeys(let newKeys):
          keys = newKeys
        case .conflict(let values, let newKeys):
          keys = newKeys
          if mode == .add { throw fleet.settings.error(.itemAlreadyExists) }
          let old = values[0].flatMap { try? keys.open($0) }
          // The keys may be from another moment than the value. A read has both from one moment.
          if old == nil, values[0] != nil {
            mustRead = true
            continue
          }
          known = old.map(KnownItems.Item.init)
          fleet.items[item.key] = known
          if mode == .update, known == nil { throw fleet.settings.error(.itemNotFound) }
          mustRead = item.secret == nil
        }
      }
    }
  }

  /// Checks that an item can be saved.
  func validateForFleet(_ item: SecureItem) throws(SecureStorageError) {
    try validate(item)
    // A query for a service reads only what is stored for the service of a key.
    if item.key.service == nil, item.attributes?[AttributeName.service] != nil {
      throw error(
        .invalidArgument, during: .save,
        message:
          "The argument \"attributes\" must not contain \"service\" if the key has no service.",
        argument: "attributes")
    }
  }

  // MARK: - Removing

  /// Removes the items that match a query.
  ///
  /// Up to 64 items are removed in a single step.
  ///
  /// - Parameter query: The query that selects the items.
  /// - Returns: The number of removed items.
  /// - Throws: The same errors as saving, except for those about the item.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try await FleetOperation.perform(.remove, on: fleet) {
      (operation) throws(SecureStorageError) in
      var (count, idleRounds) = (0, 0)
      var query = query
      while true {
        let (keys, changes) = try await removals(matching: query, operation)
        if changes.isEmpty { return count }
        // Every list has the full deadline.
        if idleRounds == FleetOperation.mostIdleRounds, !query.asksForKeyOnly {
          throw operation.outpaced
        }
        idleRounds += 1
        for start in stride(from: 0, to: changes.count, by: Self.removalLimit) {
          let part = Array(changes[start..<min(start + Self.removalLimit, changes.count)])
          let outcome = try await operation.commit(
            part.map(\.change), service: part[0].service, keys)
          // Otherwise, the items are read again.
          guard case .done = outcome else { break }
          count += part.count
          idleRounds = 0
          operation.renew()
          query.limit = query.limit.map { $0 - part.count }
          if start + part.count == changes.count { return count }
        }
      }
    }
  }

  /// The most items that are removed in one transaction.
  private static let removalLimit = 64

  private func removals(
    matching query: ItemQuery, _ operation: FleetOperation
  ) async throws(SecureStorageError) -> (
    NamespaceKeys, [(change: ConditionalChange, service: Namespace.Service)]
  ) {
    if query.asksForKeyOnly, let key = query.key {
      // An item that can't be decrypted can be removed, too.
      let (keys, replies, _) = try await operation.read { [RangeRequest($0.names.item(key))] }
      let service = keys.names.service(of: key)
      return (
        keys,
        replies.flatMap(\.values).map {
          (ConditionalChange(key: $0.key, revision: $0.revision, value: nil), service)
        }
      )
    }
    let items = try await operation.items(matching: query) { ($0.record.key, $0.revision) }
    let keys = try await operation.keys()
    return (
      keys,
      items.map { key, revision in
        (
          ConditionalChange(key: keys.names.item(key), revision: revision, value: nil),
          keys.names.service(of: key)
        )
      }
    )
  }
}
#endif
