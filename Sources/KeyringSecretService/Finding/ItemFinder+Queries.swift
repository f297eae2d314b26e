// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemFinder {
  /// Finds the items that match any kind of query, even while others change them.
  func selectedItems(matching query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    var refusals: [ObjectPath: Int] = [:]
    var incomplete: Set<ObjectPath> = []
    var unlockings = 0
    let needsSecrets = query.details.contains(.secret)
    while true {
      let selected = try await queriedItems(
        matching: query, fetching: query.details, ignoring: incomplete
      ).map { (key: $0, item: $1[0]) }
      if needsSecrets, query.allowsUnlocking, selected.contains(where: \.item.isLocked) {
        unlockings += 1
        if unlockings > Self.mostUnlockings { throw call.failure(.locked) }
        continue
      }
      let unread =
        needsSecrets ? selected.map(\.item).filter(\.canBeRead).map(\.path) : []
      let contents = try await contents(of: ItemFetch(unread, .secret, in: call.session))
      let missing = unread.filter { contents.secrets[$0] == nil }
      if missing.isEmpty {
        return selected.map { key, stored in
          stored.item(
            key, secret: stored.secret ?? contents.secrets[stored.path], details: query.details)
        }
      }
      // If an item's secret never arrived, the item that it was going to replace takes its place.
      incomplete.formUnion(contents.incomplete)
      // An item that vanished in between was removed, replaced or locked. Another search shows which.
      let refused = missing.filter { !incomplete.contains($0) }
      for path in refused where try await call.lockState(of: path.collection) == false {
        refusals[path, default: 0] += 1
      }
      try await insist(
        on: refused.filter { refusals[$0] ?? 0 > 1 }, refusals, unlocking: query.allowsUnlocking)
      try call.checkRepetition()
    }
  }

  /// Unlocks items whose secrets the provider refuses although it lists them as unlocked.
  ///
  /// The method throws after an earlier unlock that was in vain, and for a query that unlocks nothing.
  private func insist(
    on refused: [ObjectPath], _ refusals: [ObjectPath: Int], unlocking: Bool
  ) async throws(SecureStorageError) {
    if refused.isEmpty { return }
    guard unlocking else { throw call.failure(.locked) }
    if refused.contains(where: { refusals[$0] ?? 0 > 2 }) {
      _ = try await call.send(
        [.getSecrets(refused, session: call.session.path)], acceptingRefusals: false)
      throw call.unexpectedAnswer("without the secret of an unlocked item")
    }
    try await call.unlock(refused)
  }
}

// MARK: - Selecting items

extension ItemFinder {
  /// Finds the items that a query selects, newest first.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - details: The details of the items to fetch. The secrets are fetched only where that leaves out
  ///     the secrets of all other items.
  ///   - incomplete: The items to ignore because their secret was lost. Others take their place.
  ///   - needsDuplicates: Whether to return everything under the selected keys. Otherwise only the valid items are
  ///     certain to be returned.
  /// - Returns: The items of each key, the valid one first. There are others if a process was killed while
  ///   it replaced an item.
  /// - Throws: The error of an item that is unreadable or may be hidden.
  func queriedItems(
    matching query: ItemQuery, fetching details: ItemQuery.Details = [],
    ignoring incomplete: Set<ObjectPath> = [], needsDuplicates: Bool = false
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    if let key = query.key {
      let items = try await storedItems(
        for: key, unlocking: query.allowsUnlocking, ignoring: incomplete,
        needsAttributesOnly: needsDuplicates && query.asksForKeyOnly, needsShared: needsDuplicates)
      return select([(key, items)], by: query)
    }
    if let limit = query.limit, call.provider.listsNewestFirst, !needsDuplicates {
      return try await newestItems(limit, matching: query, ignoring: incomplete)
    }
    // The provider lists the newest items first. If that order is kept, the times aren't needed.
    let attributes: ItemQuery.Details = keepsListedOrder(of: query) ? .attributes : []
    let found = try await candidates(
      for: query, details.union(attributes), ignoring: incomplete)
    return select(found.groups, by: query)
  }

  /// Finds the newest items that a query selects, if the provider lists the newest items first.
  ///
  /// Only as many items are examined as necessary.
  private func newestItems(
    _ limit: Int, matching query: ItemQuery, ignoring incomplete: Set<ObjectPath>
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    var most = min(limit, .max / 8) + 1
    while true {
      let found = try await candidates(for: query, ignoring: incomplete, first: most)
      let selected = select(found.groups, by: query)
      if found.isAll { return selected }
      // Times are whole seconds, and items of the same second are listed in no particular order.
      if selected.count == limit, let last = selected.last?.items[0],
        found.last?.isOlder(than: last) == true
      {
        let own = try await search(selected.map(\.key.ownAttributes), with: []).found.joined()
        if Set(own).isSubset(of: found.paths) { return selected }
        // The valid item of one of the keys is further back.
        most = .max
      } else {
        most = most < .max / 4 ? 4 * most : .max
      }
    }
  }

  /// Returns `true` for a query whose items keep the order in which the provider lists them.
  ///
  /// Their times are irrelevant then. Items of the same second are in any order.
  private func keepsListedOrder(of query: ItemQuery) -> Bool {
    call.provider.listsNewestFirst && query.needsAttributesOnly
  }

  /// Selects the items that match a query, newest first.
  private func select(
    _ groups: [(key: ItemKey, items: [StoredItem])], by query: ItemQuery
  ) -> [(key: ItemKey, items: [StoredItem])] {
    var matching: [(key: ItemKey, items: [StoredItem])] = []
    for (key, items) in groups {
      guard let first = items.first, query.matches(first.metadata(key)) else { continue }
      // This package's valid item stands for the items that it replaced. Any other item of another program
      // stands only for itself.
      matching.append(
        (
          key,
          items.filter { $0.isOwn || first.isSuccessor || query.matches($0.metadata(key)) }
        ))
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
    /// The items in groups.
    ///
    /// This package's items are grouped by key, with those of other programs that go with them. Every other item is
    /// alone.
    var groups: [(key: ItemKey, items: [StoredItem])]
    /// The paths of all examined items.
    var paths: Set<ObjectPath>
    /// The examined item that comes last in the provider's list.
    var last: StoredItem?
    /// `true` if there are no other items.
    var isAll: Bool
  }

  private func candidates(
    for query: ItemQuery, _ details: ItemQuery.Details = [], ignoring incomplete: Set<ObjectPath>,
    first most: Int = .max
  ) async throws(SecureStorageError) -> Candidates {
    let details = query.selectsByAttributesOnly ? details : details.subtracting(.secret)
    let (stored, isAll) = try await searchedItems(
      with: query.searchedAttributes, unlocking: query.allowsUnlocking,
      leavingForeign: query.leavesForeignItems, fetching: details, first: most)
    let known = stored.filter { !incomplete.contains($0.path) }.compactMap { stored in
      stored.key.map { (key: $0, item: stored) }
    }
    let byKey = Dictionary(grouping: known, by: \.key).mapValues { $0.map(\.item) }
    let groups = byKey.flatMap { key, items in
      let own = items.filter(\.isOwn)
      let others = items.filter { !$0.isOwn }
      if own.isEmpty { return others.map { (key, [$0]) } }
      let with = others.filter { $0.goesWith(own, under: key) }
      let alone = others.filter { other in !with.contains { $0 === other } }
      return [(key, own + with)] + alone.map { (key, [$0]) }
    }
    return Candidates(
      groups: try await withAllItems(groups, query, incomplete),
      paths: Set(stored.map(\.path)), last: stored.max { $0.place < $1.place }, isAll: isAll)
  }

  /// Returns groups of items with those that the query's search misses.
  ///
  /// A replaced item that stays may have other attributes than its successor.
  private func withAllItems(
    _ groups: [(key: ItemKey, items: [StoredItem])], _ query: ItemQuery,
    _ incomplete: Set<ObjectPath>
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    let doubtful = groups.indices.filter {
      let (key, items) = groups[$0]
      let mayHaveOthers =
        items[0].isOwn ? call.provider.delaysSecrets : !call.provider.storesChanges
      return mayHaveOthers && !query.searchedAttributes.isContained(in: key.attributes)
    }
    if doubtful.isEmpty { return groups }
    var groups = groups
    let own = try await search(doubtful.map { groups[$0].key.ownAttributes }, with: []).found
    for (index, paths) in zip(doubtful, own) {
      let (key, items) = groups[index]
      let areAll = Set(paths).isSubset(of: items.map(\.path))
      if areAll, !items[0].isSuccessor { continue }
      let all = try await storedItems(
        for: key, unlocking: query.allowsUnlocking, ignoring: incomplete)
      if items[0].isOwn || all.first?.isSuccessor == true { groups[index].items = all }
    }
    return groups.filter { !$0.items.isEmpty }
  }
}

extension StoredItem {
  /// `true` for a secret that must still be fetched, and can be.
  fileprivate var canBeRead: Bool { secret == nil && !isLocked }
}

extension ItemQuery {
  /// `true` for a query whose items are exactly those that a search by attributes finds.
  fileprivate var selectsByAttributesOnly: Bool {
    !ignoresCase && kind == nil && comparesAttributesOnly && limit == nil && !leavesForeignItems
  }

  /// `true` for a query that needs only the attributes and secrets of items.
  fileprivate var needsAttributesOnly: Bool {
    // A locked item comes without its secret, and attributes don't show that an item is locked.
    comparesAttributesOnly && limit == nil && !details.contains(.metadata)
      && (allowsUnlocking || !details.contains(.secret))
  }

  /// The attributes that a provider can search for.
  ///
  /// A provider compares attributes letter by letter, so a query that ignores case has none.
  var searchedAttributes: [String: String] { ignoresCase ? [:] : attributes }

  private var comparesAttributesOnly: Bool { label == nil && created == nil && modified == nil }
}
#endif
