// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemFinder {
  /// Finds the items stored under a key.
  ///
  /// The result consists of this package's own items, with the valid one first, and then those of other programs that
  /// go with them. If there are no own items, it's the one item of another program that the key means.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - unlocking: `true` to unlock locked items and collections.
  ///   - incomplete: The items to ignore because their secret was lost. Others take their place.
  ///   - needsAttributesOnly: Whether a change needs neither the label nor the times of the item. If the provider
  ///     refuses to change a locked item, the lock isn't needed either.
  ///   - needsShared: `true` to find those of other programs beside own ones.
  /// - Returns: The items, maybe none. Python's keyring may have put an item next to one of
  ///   this package, or this package's item may have taken the place of another.
  /// - Throws: `.ambiguous` if the key means several items of other programs, none of which has its schema, and none of
  ///   this package.
  func storedItems(
    for key: ItemKey, unlocking: Bool = true, ignoring incomplete: Set<ObjectPath> = [],
    needsAttributesOnly: Bool = false, needsShared: Bool = false
  ) async throws(SecureStorageError) -> [StoredItem] {
    let ownAttributes = key.ownAttributes
    func isOfInterest(_ stored: StoredItem) -> Bool {
      stored.hidesAttributes || ownAttributes.isContained(in: stored.attributes)
        || stored.isShared(under: key)
    }
    let stored = try await examinedItems(
      unlocking: unlocking, havingAttributes: true, ofInterest: isOfInterest
    ) { () async throws(SecureStorageError) in
      let mayBeRefused = call.provider.refusesWritesWhileLocked && !call.wasRefused
      let result = try await searchWhereItWas(
        key, ownAttributes, needsAttributesOnly && mayBeRefused ? .attributes : .metadata)
      if needsShared || result.found[0].count <= Self.fewItems { return result }
      // Items of other keys can have the same parts and more.
      let own = try await search([ownAttributes], with: [])
      return own.found[0].isEmpty ? result : own
    }.items.filter { !incomplete.contains($0.path) }
    let own = stored.filter { ownAttributes.isContained(in: $0.attributes) }
    if !own.isEmpty { return own + stored.filter { $0.goesWith(own, under: key) } }
    let shared = stored.filter { $0.isShared(under: key) }
    if shared.count > 1 {
      // The generic schema says nothing: a keyring may add it to an item without one.
      let closest = shared.filter { $0.schema == key.schema ?? key.kind.schema }
      if closest.count == 1, closest[0].schema != ItemKind.password.schema { return closest }
      let names = shared.map { "\"\($0.label)\" (\($0.path.text))" }.joined(separator: ", ")
      throw call.failure(
        .ambiguous, "Several items of other programs match \(key): \(names.excerpt).")
    }
    return shared
  }

  /// Searches for the items with a key, regardless of owner.
  ///
  /// The details of the item that was last found under the key are fetched concurrently.
  private func searchWhereItWas(
    _ key: ItemKey, _ ownAttributes: [String: String], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> SearchResult {
    guard let path = knownPath(of: key) else {
      return try await searchEverything([key.attributes])
    }
    let request = ItemFetch([path], details, in: call.session)
    let asksForLock = !call.provider.listsLockedItems
    var result =
      try await asksForLock
      ? searchEverything([key.attributes], with: request.messages)
      : search([key.attributes], with: request.messages)
    result.contents = try await contents(of: [path], request, result.answers)
    // If this package's item is still there and shows its attributes, no other question is needed.
    let stored = result.found[0].contains(path) ? result.contents.stored(at: path) : nil
    let isThere = stored.map { ownAttributes.isContained(in: $0.attributes) } == true
    // The attributes don't show which of several items is the valid one.
    if details == .attributes, result.found[0] != [path] { result.contents = FetchedItems() }
    return isThere || asksForLock ? result : try await searchEverything([key.attributes])
  }

  /// The maximum number of found items that are all examined.
  ///
  /// A search for this package's own items replaces a longer list.
  private static let fewItems = 16

  /// Finds the items with these attributes.
  ///
  /// An item that replaces another one comes before it.
  ///
  /// - Parameters:
  ///   - attributes: The attributes.
  ///   - unlocking: `true` to unlock locked items and collections.
  ///   - leavesForeign: `true` to leave another program's own items locked.
  ///   - details: The details of the items to fetch.
  ///   - most: The maximum number of items to examine, from the start of the provider's list.
  /// - Returns: The items, and whether there are no others.
  /// - Throws: `.locked` if some of the items may be hidden.
  func searchedItems(
    with attributes: [String: String], unlocking: Bool = true,
    leavingForeign leavesForeign: Bool = false, fetching details: ItemQuery.Details = [],
    first most: Int = .max
  ) async throws(SecureStorageError) -> (items: [StoredItem], isAll: Bool) {
    func isOfInterest(_ stored: StoredItem) -> Bool {
      !leavesForeign || stored.hidesAttributes || !stored.isForeign
    }
    return try await examinedItems(
      unlocking: unlocking, havingAttributes: !attributes.isEmpty, ofInterest: isOfInterest,
      fetching: details, first: most
    ) { () async throws(SecureStorageError) in
      try await searchEverything([attributes])
    }
  }

  /// Finds the items with exactly these attributes.
  func exactItems(
    withOnly attributes: [String: String]
  ) async throws(SecureStorageError) -> [StoredItem] {
    // The package never searches by schema, and a keyring may have added the generic one.
    func withoutGenericSchema(_ attributes: [String: String]) -> [String: String] {
      attributes.filter { $0.key != AttributeName.schema || $0.value != ItemKind.password.schema }
    }
    return try await searchedItems(with: attributes.filter { $0.key != AttributeName.schema }).items
      .filter { withoutGenericSchema($0.attributes).hasSameBytes(withoutGenericSchema(attributes)) }
  }

  /// Finds all items that a search returns.
  ///
  /// An item that replaces another one comes before it. The items are unlocked first, because some
  /// providers show neither label nor attributes before the first unlock since login. If the secrets are
  /// requested, the items that can be read have theirs.
  ///
  /// - Parameters:
  ///   - unlocking: `true` to unlock locked items and collections.
  ///   - havingAttributes: Whether the search is by attributes. If it is, an item that shows no attributes is being
  ///     removed.
  ///   - isOfInterest: A closure that returns `true` for an item to unlock. The others stay locked.
  ///   - details: The details of the items to fetch. Everything but the secret is fetched in any case,
  ///     unless the details contain ``ItemQuery/Details/attributes``.
  ///   - most: The maximum number of items to examine, from the start of the found items.
  ///   - search: A closure that searches for the items.
  /// - Returns: The items, and whether there are no others.
  /// - Throws: `.locked` if some of the items may be hidden.
  private func examinedItems(
    unlocking: Bool, havingAttributes: Bool,
    ofInterest isOfInterest: (StoredItem) -> Bool = { _ in true },
    fetching details: ItemQuery.Details = [],
    first most: Int = .max, by search: () async throws(SecureStorageError) -> SearchResult
  ) async throws(SecureStorageError) -> (items: [StoredItem], isAll: Bool) {
    // A listed item may be deleted before it's examined. Something may have taken its place, and only another
    // search shows that. A deleted item that stays listed is a leftover in the provider.
    var deleted: Set<ObjectPath> = []
    var unlocked: Set<ObjectPath> = []
    var unlockings = 0
    while true {
      let result = try await search()
      if unlocking, result.isLocked {
        unlockings += 1
        if unlockings > Self.mostUnlockings { throw call.failure(.locked) }
        try await call.unlock([call.lockableCollection()])
        continue
      }
      let listed = result.found[0].filter { !deleted.contains($0) }
      // Examining most of the items takes as long as examining all of them.
      let paths = most > listed.count / 2 ? listed[...] : listed.prefix(most)
      let unknown = paths.filter { result.contents.properties[$0] == nil }
      let rest = unknown.isEmpty ? FetchedItems() : try await look(at: unknown, details)
      let stored = paths.enumerated().compactMap { place, path in
        let stored = result.contents.stored(at: path) ?? rest.stored(at: path)
        stored?.place = place
        return stored
      }.filter { !havingAttributes || $0.showsAttributes }
      if unlocking {
        let locked = stored.filter {
          $0.isLocked && !unlocked.contains($0.path) && isOfInterest($0)
        }.map(\.path)
        if !locked.isEmpty {
          try await call.unlock(locked)
          unlocked.formUnion(locked)
          continue
        }
      }
      let mayHideItems = !unlocking && result.isLocked && !call.provider.listsLockedItems
      if mayHideItems || stored.contains(where: \.hidesAttributes) { throw call.failure(.locked) }
      if stored.count == paths.count {
        return (stored.sorted { $0.replaces($1) }, isAll: paths.count == listed.count)
      }
      deleted.formUnion(Set(paths).subtracting(stored.map(\.path)))
      try call.checkRepetition()
    }
  }

  /// Fetches the requested details of found items, and reports the progress.
  private func look(
    at paths: [ObjectPath], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> FetchedItems {
    let details = details.contains(.attributes) ? details : details.union(.metadata)
    var looked = 0
    var contents = try await contents(of: ItemFetch(paths, details, in: call.session)) { answered in
      // The secrets come last and don't count.
      if looked < paths.count { call.whenLooking(min(answered, paths.count), paths.count) }
      looked = answered
    }
    let unclear = details.contains(.attributes) ? contents.unclear : contents.withoutAttributes
    contents.update(
      unclear, from: try await self.contents(of: ItemFetch(unclear, .metadata, in: call.session)))
    return contents
  }

  /// The maximum number of times that a search unlocks its collection, and that a query unlocks its items.
  ///
  /// It may be locked again right away.
  static let mostUnlockings = 3
}
#endif
