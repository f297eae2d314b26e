// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

extension EtcdNamespace {
  // MARK: - Reading

  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await perform(.read) { (session) throws(SecureStorageError) in
      try await session.withSnapshot { (snapshot) throws(SecureStorageError) in
        var items: [ItemKey: SecureItem] = [:]
        var rest = Array(Set(keys))[...]
        while !rest.isEmpty {
          let part = rest.prefix(Transaction.rangeLimit)
          rest = rest.dropFirst(part.count)
          let reply = try await snapshot.read { keys in part.map { RangeRequest(keys.item($0)) } }
          guard let (namespaceKeys, replies) = reply else { return nil }
          for (key, reply) in zip(part, replies) {
            guard let value = reply.values.first else { continue }
            let item = try session.open(value, namespaceKeys)
            remember(KnownItem(record: item.record, revision: item.revision), for: key)
            items[key] = item.record.item(details, secret: item.secret)
          }
        }
        return items
      }
    }
  }

  func items(matching query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    if query.asksForKeyOnly, let key = query.key {
      return try await items(for: [key], query.details)[key].map { [$0] } ?? []
    }
    return try await perform(.read) { (session) throws(SecureStorageError) in
      try await session.items(matching: query).map { (item) in
        item.record.item(query.details, secret: item.secret)
      }
    }
  }

  // MARK: - Saving

  func save(_ item: SecureItem, _ mode: SaveMode) async throws(SecureStorageError) {
    try await perform(.save) { (session) throws(SecureStorageError) in
      // A query for a service reads only what is stored for the service of a key.
      if item.key.service == nil, item.attributes?[AttributeName.service] != nil {
        throw error(
          .invalidArgument,
          "The argument \"attributes\" must not name \"service\" if the key has no service.",
          argument: "attributes")
      }
      var known = known(item.key)
      var secret = item.secret
      // A write that fails costs the cluster as much as one that succeeds. A read costs less.
      var mustRead = secret == nil || mode != .add && known == nil
      var keys = try await session.keys()
      while true {
        if mustRead {
          let key = item.key
          let (newKeys, replies, _) = try await session.read { [RangeRequest($0.item(key))] }
          keys = newKeys
          let old = try replies.first?.values.first.map { (value) throws(SecureStorageError) in
            try session.open(value, newKeys)
          }
          known = old.map { KnownItem(record: $0.record, revision: $0.revision) }
          secret = item.secret ?? old?.secret
          mustRead = false
          if mode == .update, known == nil { throw error(.itemNotFound) }
        }
        if mode == .add { known = nil }
        guard let secret else { throw missingSecret() }
        let id = [UInt8].random(FleetItem.writeIDByteCount)
        let place = keys.item(item.key)
        let record = ItemRecord(saving: item, over: known?.record)
        let value: [UInt8]
        do throws(SealingKey.Failure) {
          value = try keys.seal(FleetItem(record, secret, writeID: id), place)
        } catch {
          throw self.error(.other, "The item can't be encrypted.")
        }
        let change = ConditionalChange(key: place, revision: known?.revision ?? 0, value: value)
        switch try await session.commit([change], service: keys.service(of: item.key), keys, id: id)
        {
        case .done(let revision):
          return remember(KnownItem(record: record, revision: revision), for: item.key)
        case .otherKeys(let newKeys):
          keys = newKeys
        case .conflict(let values, let newKeys):
          keys = newKeys
          if mode == .add { throw error(.itemAlreadyExists) }
          let old = try values[0].map { (value) throws(SecureStorageError) in
            try session.open(value, keys)
          }
          known = old.map { KnownItem(record: $0.record, revision: $0.revision) }
          remember(known, for: item.key)
          if mode == .update, known == nil { throw error(.itemNotFound) }
          mustRead = item.secret == nil
        }
      }
    }
  }

  private func missingSecret() -> SecureStorageError {
    error(
      .invalidArgument, "The argument \"secret\" is needed for a new item.", argument: "secret")
  }

  // MARK: - Removing

  func removeItems(matching query: ItemQuery) async throws(SecureStorageError) -> Int {
    try await perform(.remove) { (session) throws(SecureStorageError) in
      var count = 0
      var query = query
      while true {
        let (keys, changes) = try await removals(matching: query, session)
        if changes.isEmpty { return count }
        for start in stride(from: 0, to: changes.count, by: Self.removalLimit) {
          let part = Array(changes[start..<min(start + Self.removalLimit, changes.count)])
          let outcome = try await session.commit(
            part.map(\.change), service: part[0].service, keys,
            id: .random(FleetItem.writeIDByteCount))
          // Otherwise, the items are read again.
          guard case .done = outcome else { break }
          count += part.count
          query.limit = query.limit.map { $0 - part.count }
          if start + part.count == changes.count { return count }
        }
      }
    }
  }

  /// The most items that are removed in one transaction.
  private static let removalLimit = 64

  private func removals(
    matching query: ItemQuery, _ session: Session
  ) async throws(SecureStorageError) -> (
    NamespaceKeys, [(change: ConditionalChange, service: Namespace.Service)]
  ) {
    if query.asksForKeyOnly, let key = query.key {
      // An item that can't be decrypted can be removed, too.
      let (keys, replies, _) = try await session.read { [RangeRequest($0.item(key))] }
      let service = keys.service(of: key)
      return (
        keys,
        replies.flatMap(\.values).map {
          (ConditionalChange(key: $0.key, revision: $0.revision, value: nil), service)
        }
      )
    }
    let items = try await session.items(matching: query)
    let keys = try await session.keys()
    return (
      keys,
      items.map { item in
        let key = item.record.key
        return (
          ConditionalChange(key: keys.item(key), revision: item.revision, value: nil),
          keys.service(of: key)
        )
      }
    )
  }
}

extension Session {
  /// Returns the items that match a query, newest first, at one revision.
  func items(matching query: ItemQuery) async throws(SecureStorageError) -> [FleetItem] {
    var found = try await list(readableParts(of: range(of: query))) {
      (value, keys) throws(SecureStorageError) -> FleetItem? in
      let item = try open(value, keys)
      return query.matches(item.record.item(.metadata, secret: item.secret)) ? item : nil
    }.elements
    found.sort { $0.order > $1.order }
    return Array(found.prefix(query.limit ?? .max))
  }

  /// Returns the range that has the items of a query: the items of one service, or all items.
  func range(of query: ItemQuery?) async throws(SecureStorageError) -> EtcdRange {
    let keys = try await keys()
    if let key = query?.key { return EtcdRange(prefix: keys.service(of: key).items) }
    if let query, !query.ignoresCase, let service = query.attributes[AttributeName.service] {
      return EtcdRange(prefix: keys.service(service).items)
    }
    return EtcdRange(prefix: namespace.items)
  }

  /// Returns the parts of a range that the user may read.
  ///
  /// The items of one service are in one part. If the user may not read it, etcd says so.
  func readableParts(of range: EtcdRange) async throws(SecureStorageError) -> [EtcdRange] {
    guard range.contains(EtcdRange(prefix: namespace.items)) else { return [range] }
    let readable: [EtcdRange]?
    do throws(EtcdClient.Failure) {
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
