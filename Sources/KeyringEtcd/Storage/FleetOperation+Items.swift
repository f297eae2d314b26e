// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

extension FleetOperation {
  /// Reads the item stored under a key, together with the keys that decrypt it.
  func storedItem(
    for key: ItemKey
  ) async throws(SecureStorageError) -> (NamespaceKeys, FleetItem?) {
    let (keys, replies, _) = try await read { [RangeRequest($0.names.item(key))] }
    return (keys, try item(in: replies[0], key, keys))
  }

  /// Decrypts the item in the reply to a request for its key, and remembers it.
  func item(
    in reply: RangeReply, _ key: ItemKey, _ keys: NamespaceKeys
  ) throws(SecureStorageError) -> FleetItem? {
    guard let value = reply.values.first else { return nil }
    let item = try open(value, keys)
    fleet.items[key] = KnownItems.Item(item)
    return item
  }

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
          items[key] = try item(in: reply, key, namespaceKeys)?.item(details)
        }
      }
      return items
    }
  }

  /// Returns what is needed of the items that match a query, newest first, at one revision.
  ///
  /// The decrypted bytes of an item are dropped.
  func items<Part>(
    matching query: ItemQuery, _ part: (FleetItem) -> Part
  ) async throws(SecureStorageError) -> [Part] {
    var found = try await list(readableParts(of: range(of: query))) {
      (value, keys) throws(SecureStorageError) -> (order: Int64, part: Part)? in
      let item = try open(value, keys)
      guard query.matches(item.item(.metadata)) else { return nil }
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
  /// The items of one service are in one part, which etcd refuses to a user who lacks the role.
  func readableParts(of range: EtcdRange) async throws(SecureStorageError) -> [EtcdRange] {
    guard range.contains(EtcdRange(prefix: namespace.items)) else { return [range] }
    let readable: [EtcdRange]?
    do throws(EtcdFailure) {
      readable = try await client.readableRanges(until: end)
    } catch {
      throw fleet.settings.error(for: error.cause)
    }
    guard let readable else { return [range] }
    let parts = range.parts(in: readable)
    if parts.isEmpty {
      throw fleet.settings.error(
        for: .refused(GatewayError(code: 7, message: "no role for the items")))
    }
    return parts
  }
}
#endif
