#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds items, newest first.
  func items(matching query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    if let key = query.key, query.asksForKeyOnly, query.unlocks {
      return try await items(for: [key], query.details).map(\.value)
    }
    return try await selectedItems(matching: query)
  }

  /// Finds items by whatever a query asks for, even while others change them.
  func selectedItems(matching query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    var refusals: [ObjectPath: Int] = [:]
    var incomplete: Set<ObjectPath> = []
    while true {
      let selected = try await storedItems(
        matching: query, fetching: query.details, ignoring: incomplete
      ).map { (key: $0, item: $1[0]) }
      let unread =
        query.details.contains(.secret) ? selected.map(\.item).filter(\.canBeRead).map(\.path) : []
      let contents = try await contents(of: ItemRequest(unread, .secret, in: session))
      let missing = unread.filter { contents.secrets[$0] == nil }
      if missing.isEmpty {
        return selected.map { key, stored in
          stored.item(
            key, secret: stored.secret ?? contents.secrets[stored.path], details: query.details)
        }
      }
      // An item whose secret never arrived leaves its place to the one that it was to replace.
      incomplete.formUnion(contents.incomplete)
      // What vanished in between was removed, replaced or locked, and another search tells which.
      let refused = missing.filter { !incomplete.contains($0) }
      for path in refused where try await lockState(of: path.collection) == false {
        refusals[path, default: 0] += 1
      }
      try await insist(on: refused.filter { refusals[$0] ?? 0 > 1 }, refusals)
      try checkRepetition()
    }
  }

  /// Unlocks items whose secrets the provider refuses although it lists them as unlocked, and throws
  /// where that did not help.
  private func insist(
    on refused: [ObjectPath], _ refusals: [ObjectPath: Int]
  ) async throws(SecureStorageError) {
    if refused.isEmpty { return }
    if refused.contains(where: { refusals[$0] ?? 0 > 2 }) {
      _ = try await send([.getSecrets(refused, session: session.path)], acceptingRefusals: false)
      throw unexpectedAnswer("no secret for an item that it lists as unlocked")
    }
    try await unlock(refused)
  }
}

// MARK: - What a query selects

extension Call {
  /// Finds the items that a query selects, newest first.
  ///
  /// - Parameters:
  ///   - query: Which items.
  ///   - details: What of them is wanted; the secrets come along if no other items' would.
  ///   - incomplete: Items whose secret never arrived, so that others take their place.
  ///   - needsDuplicates: `true` for everything under the selected keys; otherwise only the valid items are
  ///     sure to be there.
  /// - Returns: For each key its items, the valid one first; there are others when a process was
  ///   killed while it replaced one.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func storedItems(
    matching query: ItemQuery, fetching details: ItemQuery.Details = [],
    ignoring incomplete: Set<ObjectPath> = [], needsDuplicates: Bool = false
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    if let key = query.key {
      let items = try await storedItems(for: key, unlocking: query.unlocks, ignoring: incomplete)
      return select([(key, items)], by: query)
    }
    if let limit = query.limit, provider.listsNewestFirst, !needsDuplicates {
      return try await newestItems(limit, matching: query, ignoring: incomplete)
    }
    // Newest first, as they are listed, needs no times.
    let attributes: ItemQuery.Details = keepsListedOrder(of: query) ? .attributes : []
    let found = try await candidates(
      for: query, details.union(attributes), ignoring: incomplete)
    return select(found.groups, by: query)
  }

  /// Finds the newest items that a query selects, where a provider lists the newest first: no more are
  /// looked at than it takes.
  private func newestItems(
    _ limit: Int, matching query: ItemQuery, ignoring incomplete: Set<ObjectPath>
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    var most = min(limit, .max / 8) + 1
    while true {
      let found = try await candidates(for: query, ignoring: incomplete, first: most)
      let selected = select(found.groups, by: query)
      if found.isAll { return selected }
      // Times are whole seconds, within which the list has no order.
      if selected.count == limit, let last = selected.last?.items[0],
        found.last?.isOlder(than: last) == true
      {
        let own = try await search(selected.map(\.key.ownAttributes), with: []).found.joined()
        if Set(own).isSubset(of: found.paths) { return selected }
        // What is valid under one of the keys is further back.
        most = .max
      } else {
        most = most < .max / 4 ? 4 * most : .max
      }
    }
  }

  /// Returns `true` if items keep the order in which the provider lists them, so that their times need not
  /// be known.
  ///
  /// Within a second that is any order.
  private func keepsListedOrder(of query: ItemQuery) -> Bool {
    provider.listsNewestFirst && query.needsAttributesOnly
  }

  /// Selects what matches a query, newest first.
  private func select(
    _ groups: [(key: ItemKey, items: [StoredItem])], by query: ItemQuery
  ) -> [(key: ItemKey, items: [StoredItem])] {
    var matching: [(key: ItemKey, items: [StoredItem])] = []
    for (key, items) in groups {
      guard let first = items.first, query.matches(first.metadata(key)) else { continue }
      // What replaced the others speaks for them; another program's item for itself only.
      matching.append((key, items.filter { $0.isOwn || query.matches($0.metadata(key)) }))
    }
    let keepsListedOrder = keepsListedOrder(of: query)
    matching.sort { one, other in
      let (one, other) = (one.items[0], other.items[0])
      return keepsListedOrder ? one.place < other.place : one.isNewer(than: other)
    }
    return Array(matching.prefix(query.limit ?? .max))
  }

  /// The items that a query without a key may select.
  private struct Candidates {
    /// Our items with what is beside them under the same key, and every other item by itself.
    var groups: [(key: ItemKey, items: [StoredItem])]
    /// All items that were looked at.
    var paths: Set<ObjectPath>
    /// The last of them in the list.
    var last: StoredItem?
    /// Whether there are no others.
    var isAll: Bool
  }

  private func candidates(
    for query: ItemQuery, _ details: ItemQuery.Details = [], ignoring incomplete: Set<ObjectPath>,
    first most: Int = .max
  ) async throws(SecureStorageError) -> Candidates {
    let details = query.selectsByAttributesOnly ? details : details.subtracting(.secret)
    let (stored, isAll) = try await storedItems(
      with: query.searchedAttributes, unlocking: query.unlocks, fetching: details, first: most)
    let known = stored.filter { !incomplete.contains($0.path) }.compactMap { stored in
      ItemKey(itemAttributes: stored.attributes).map { (key: $0, item: stored) }
    }
    let byKey = Dictionary(grouping: known, by: \.key).mapValues { $0.map(\.item) }
    return Candidates(
      groups: byKey.flatMap { key, items in
        items[0].isOwn ? [(key, items)] : items.map { (key, [$0]) }
      },
      paths: Set(stored.map(\.path)), last: stored.max { $0.place < $1.place }, isAll: isAll)
  }
}

extension StoredItem {
  /// Whether the secret is still to be fetched, and can be.
  fileprivate var canBeRead: Bool { secret == nil && !isLocked }
}

extension ItemQuery {
  /// Whether what the provider finds by the attributes is all that is selected.
  fileprivate var selectsByAttributesOnly: Bool {
    !ignoresCase && kind == nil && comparesAttributesOnly && limit == nil
  }

  /// Whether the attributes of the items are all that must be known of them, beside their secrets.
  fileprivate var needsAttributesOnly: Bool {
    // What is locked comes without its secret, and attributes don't tell what is.
    comparesAttributesOnly && limit == nil && !details.contains(.metadata)
      && (unlocks || !details.contains(.secret))
  }

  /// The attributes that a provider can search for: it compares letter by letter.
  var searchedAttributes: [String: String] { ignoresCase ? [:] : attributes }

  private var comparesAttributesOnly: Bool { label == nil && created == nil && modified == nil }
}
#endif
