// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
public import KeyringStorage

extension EtcdStorage {
  // MARK: - Reading

  /// Returns the items stored under keys, as they were at one moment.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key), for: .read) }
    return try await fleet.whileReading(keys) { () throws(SecureStorageError) in
      try await fleet.perform(.read) { (operation) throws(SecureStorageError) in
        try await operation.items(for: keys, details: details)
      }
    }
  }

  /// Returns the items that match a query, newest first, as they were at one moment.
  ///
  /// - Parameter query: The query that selects the items and their details.
  /// - Returns: The items.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if query.asksForKeyOnly, let key = query.key {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    return try await fleet.perform(.read) { (operation) throws(SecureStorageError) in
      try await operation.items(matching: query) { item in
        item.record.item(query.details, secret: item.secret)
      }
    }
  }

  // MARK: - Saving

  /// Stores an item under its key.
  ///
  /// The item is replaced as a whole and in a single step, for the whole fleet. If the connection is lost in
  /// the meantime, the storage finds out whether the item was stored.
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode. `.add` and `.update` are exact even if several machines save at once.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, or `.invalidArgument`; `.connectionLost` or `.canceled`
  ///   if the item may have been stored; or another error if it wasn't stored.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try validate(item)
    try await fleet.perform(.save) { (operation) throws(SecureStorageError) in
      // A query for a service reads only what is stored for the service of a key.
      if item.key.service == nil, item.attributes?[AttributeName.service] != nil {
        throw fleet.error(
          .invalidArgument,
          "The argument \"attributes\" must not contain \"service\" if the key has no service.",
          argument: "attributes")
      }
      var known = fleet.known[item.key]
      var secret = item.secret
      // A write that fails costs the cluster as much as one that succeeds. A read costs less.
      var mustRead = secret == nil || mode != .add && known == nil
      var keys = try await operation.keys()
      while true {
        if mustRead {
          let key = item.key
          let (newKeys, replies, _) = try await operation.read {
            [RangeRequest($0.names.item(key))]
          }
          keys = newKeys
          let old = try replies.first?.values.first.map { (value) throws(SecureStorageError) in
            try operation.open(value, newKeys)
          }
          known = old.map { Fleet.KnownItem(record: $0.record, revision: $0.revision) }
          secret = item.secret ?? old?.secret
          mustRead = false
          if mode == .update, known == nil { throw fleet.error(.itemNotFound) }
        }
        if mode == .add { known = nil }
        let secret = if let secret { secret } else { try requireSecret(item) }
        let id = [UInt8].random(FleetItem.writeIDByteCount)
        let place = keys.names.item(item.key)
        let record = ItemRecord(saving: item, over: known?.record)
        guard let value = try? keys.seal(FleetItem(record, secret, writeID: id), place) else {
          throw fleet.error(.other, "The item can't be encrypted.")
        }
        let change = ConditionalChange(key: place, revision: known?.revision ?? 0, value: value)
        switch try await operation.commit(
          [change], service: keys.names.service(of: item.key), keys, id: id)
        {
        case .done(let revision):
          fleet.known[item.key] = .init(record: record, revision: revision)
          return
        case .otherKeys(let newKeys):
          keys = newKeys
        case .conflict(let values, let newKeys):
          keys = newKeys
          if mode == .add { throw fleet.error(.itemAlreadyExists) }
          let old = values[0].flatMap { try? keys.open($0) }
          // The keys may be from another moment than the value. A read has both from one moment.
          if old == nil, values[0] != nil {
            mustRead = true
            continue
          }
          known = old.map { Fleet.KnownItem(record: $0.record, revision: $0.revision) }
          fleet.known[item.key] = known
          if mode == .update, known == nil { throw fleet.error(.itemNotFound) }
          mustRead = item.secret == nil
        }
      }
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
    return try await fleet.perform(.remove) { (operation) throws(SecureStorageError) in
      var (count, idleRounds) = (0, 0)
      var query = query
      while true {
        let (keys, changes) = try await removals(matching: query, operation)
        if changes.isEmpty { return count }
        // Every list has the full deadline.
        if idleRounds == Operation.mostIdleRounds, !query.asksForKeyOnly {
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
    matching query: ItemQuery, _ operation: Operation
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

extension Operation {
  /// Returns the items stored under keys, at one revision.
  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await withSnapshot { (snapshot) throws(SecureStorageError) in
      var items: [ItemKey: SecureItem] = [:]
      var rest = Array(Set(keys))[...]
      while !rest.isEmpty {
        let part = rest.prefix(Transaction.rangeLimit)
        rest = rest.dropFirst(part.count)
        let reply = try await snapshot.read { keys in part.map { RangeRequest(keys.names.item($0)) }
        }
        guard let (namespaceKeys, replies) = reply else { return nil }
        for (key, reply) in zip(part, replies) {
          guard let value = reply.values.first else { continue }
          let item = try open(value, namespaceKeys)
          fleet.known[key] = .init(record: item.record, revision: item.revision)
          items[key] = item.record.item(details, secret: item.secret)
        }
      }
      return items
    }
  }

  /// Returns what is needed of the items that match a query, newest first, at one revision.
  ///
  /// The decrypted bytes of an item aren't kept.
  func items<Part>(
    matching query: ItemQuery, _ part: (FleetItem) -> Part
  ) async throws(SecureStorageError) -> [Part] {
    var found = try await list(readableParts(of: range(of: query))) {
      (value, keys) throws(SecureStorageError) -> (order: Int64, part: Part)? in
      let item = try open(value, keys)
      guard query.matches(item.record.item(.metadata, secret: item.secret)) else { return nil }
      return (item.order, part(item))
    }.elements
    found.sort { $0.order > $1.order }
    return found.prefix(query.limit ?? .max).map(\.part)
  }

  /// Returns the range that has the items of a query: the items of one service, or all items.
  func range(of query: ItemQuery?) async throws(SecureStorageError) -> EtcdRange {
    let keys = try await keys()
    if let key = query?.key { return EtcdRange(prefix: keys.names.service(of: key).items) }
    if let query, !query.ignoresCase, let service = query.attributes[AttributeName.service] {
      return EtcdRange(prefix: keys.names.service(service).items)
    }
    return EtcdRange(prefix: namespace.items)
  }

  /// Returns the parts of a range that the user may read.
  ///
  /// The items of one service are in one part. If the user may not read it, etcd says so.
  func readableParts(of range: EtcdRange) async throws(SecureStorageError) -> [EtcdRange] {
    guard range.contains(EtcdRange(prefix: namespace.items)) else { return [range] }
    let readable: [EtcdRange]?
    do throws(EtcdFailure) {
      readable = try await client.readableRanges(until: end)
    } catch {
      throw fleet.error(for: error.cause)
    }
    guard let readable else { return [range] }
    let parts = range.parts(in: readable)
    if parts.isEmpty {
      throw fleet.error(for: .refused(GatewayError(code: 7, message: "no role for the items")))
    }
    return parts
  }
}
#endif
