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

  // MARK: What a query selects

  /// Finds the items that a query selects, newest first.
  ///
  /// - Parameters:
  ///   - query: Which items.
  ///   - details: What of them is wanted; the secrets come along if no other items' would.
  ///   - incomplete: Items whose secret never arrived, so that others take their place.
  /// - Returns: For each key its items, the valid one first; there are others when a process was
  ///   killed while it replaced one.
  /// - Throws: Any reason for not knowing the answer.
  func storedItems(
    matching query: ItemQuery, fetching details: ItemQuery.Details = [],
    ignoring incomplete: Set<ObjectPath> = []
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    let selected =
      if let key = query.key {
        [
          (
            key: key,
            items: try await storedItems(for: key, unlocking: query.unlocks, ignoring: incomplete)
          )
        ]
      } else {
        try await candidates(for: query, details, ignoring: incomplete)
      }
    var matching: [(key: ItemKey, items: [StoredItem])] = []
    for (key, items) in selected {
      guard let first = items.first, query.matches(first.metadata(key)) else { continue }
      // What replaced the others speaks for them; another program's item for itself only.
      matching.append((key, items.filter { $0.isOwn || query.matches($0.metadata(key)) }))
    }
    matching.sort { $0.items[0].isNewer(than: $1.items[0]) }
    return Array(matching.prefix(query.limit ?? .max))
  }

  /// Finds what a query without a key may select: our items with what is beside them under the same
  /// key, and every other item of another program by itself.
  private func candidates(
    for query: ItemQuery, _ details: ItemQuery.Details, ignoring incomplete: Set<ObjectPath>
  ) async throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    // A provider compares letter by letter.
    let attributes = query.ignoresCase ? [:] : query.attributes
    let details = query.asksForAttributesOnly ? details : []
    let stored = try await storedItems(
      with: attributes, unlocking: query.unlocks, fetching: details)
    let known = stored.filter { !incomplete.contains($0.path) }.compactMap { stored in
      ItemKey(itemAttributes: stored.attributes).map { (key: $0, item: stored) }
    }
    let byKey = Dictionary(grouping: known, by: \.key).mapValues { $0.map(\.item) }
    return byKey.flatMap { key, items in
      items[0].isOwn ? [(key, items)] : items.map { (key, [$0]) }
    }
  }

  /// Finds what is stored under a key: our own items, the valid one first, or else the one item of
  /// another program that has all parts of the key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - unlocking: Whether what is locked is unlocked.
  ///   - incomplete: Items whose secret never arrived, so that others take their place.
  /// - Returns: The items; none when there are none. What python's keyring has put beside a password
  ///   of ours comes last.
  /// - Throws: `.ambiguous` when several items of other programs match and none of ours.
  func storedItems(
    for key: ItemKey, unlocking: Bool = true, ignoring incomplete: Set<ObjectPath> = []
  ) async throws(SecureStorageError) -> [StoredItem] {
    let stored = try await storedItems(
      unlocking: unlocking, havingAttributes: true
    ) { () async throws(SecureStorageError) in
      let result = try await searchWhereItWas(key)
      if result.found[0].count <= Self.fewItems { return result }
      // Items of other keys have the same parts and more.
      let own = try await search([key.ownAttributes], with: [])
      return own.found[0].isEmpty ? result : own
    }.filter { !incomplete.contains($0.path) }
    let own = stored.filter { $0.isOwn(under: key) }
    if !own.isEmpty {
      let duplicates = stored.filter { $0.isPythonKeyringDuplicate(of: key) }
      return duplicates.count == 1 ? own + duplicates : own
    }
    let foreign = stored.filter { $0.isForeign(under: key) }
    if foreign.count > 1 {
      let names = foreign.map { "\"\($0.label)\" (\($0.path.text))" }.joined(separator: ", ")
      throw failure(.ambiguous, "Several items of other programs match \(key): \(names).")
    }
    return foreign
  }

  /// Searches for anybody's items with a key, and fetches the properties of the one that was there the
  /// last time side by side with that.
  private func searchWhereItWas(_ key: ItemKey) async throws(SecureStorageError) -> SearchResult {
    guard let path = session.itemPlaces.paths(of: [key], in: options.collection)[key] else {
      return try await searchEverything([key.attributes])
    }
    let request = ItemRequest([path], .metadata, in: session)
    let asksForLock = !session.provider.listsLockedItems
    var result =
      try await asksForLock
      ? searchEverything([key.attributes], with: request.messages)
      : search([key.attributes], with: request.messages)
    result.contents = try await contents(of: [path], request, result.answers)
    // An item of ours that is there, and shows what it is, leaves nothing to be asked.
    let isThere =
      result.found[0].contains(path)
      && result.contents.stored(at: path)?.isOwn(under: key) == true
    return isThere || asksForLock ? result : try await searchEverything([key.attributes])
  }

  /// How many items are looked at rather than searched for anew.
  private static let fewItems = 16

  /// Finds all items with these attributes, what replaces another first.
  func storedItems(
    with attributes: [String: String], unlocking: Bool = true,
    fetching details: ItemQuery.Details = []
  ) async throws(SecureStorageError) -> [StoredItem] {
    try await storedItems(
      unlocking: unlocking, havingAttributes: !attributes.isEmpty, fetching: details
    ) { () async throws(SecureStorageError) in
      try await searchEverything([attributes])
    }
  }

  /// Finds all items that a search finds, what replaces another first.
  ///
  /// They are unlocked for that: before the first unlock since log-in gnome-keyring tells neither
  /// label nor attributes. With the secrets, if they are wanted, as far as they can be read.
  ///
  /// - Parameters:
  ///   - unlocking: Whether what is locked is unlocked.
  ///   - havingAttributes: Whether the search is by attributes. An item that shows none then is one that
  ///     is being removed.
  ///   - details: What of the items to fetch.
  ///   - search: Searches for the items.
  /// - Returns: The items.
  /// - Throws: `.locked` if some of them may be hidden.
  private func storedItems(
    unlocking: Bool, havingAttributes: Bool, fetching details: ItemQuery.Details = [],
    by search: () async throws(SecureStorageError) -> SearchResult
  ) async throws(SecureStorageError) -> [StoredItem] {
    // What a search lists may be gone before it is looked at. Then something may have taken its
    // place, and only another search tells; what is listed again and again is a provider's ghost.
    var gone: Set<ObjectPath> = []
    var unlocked: Set<ObjectPath> = []
    var unlockings = 0
    while true {
      let result = try await search()
      let paths = result.found[0].filter { !gone.contains($0) }
      let unknown = paths.filter { result.contents.properties[$0] == nil }
      let rest = try await contents(of: ItemRequest(unknown, details.union(.metadata), in: session))
      let stored = paths.compactMap { result.contents.stored(at: $0) ?? rest.stored(at: $0) }
        .filter { !havingAttributes || $0.showsAttributes }
      if unlocking {
        if result.isLocked {
          unlockings += 1
          if unlockings > Self.mostUnlockings { throw failure(.locked) }
          try await unlock([lockableCollection()])
          continue
        }
        let locked = stored.filter { $0.isLocked && !unlocked.contains($0.path) }.map(\.path)
        if !locked.isEmpty {
          try await unlock(locked)
          unlocked.formUnion(locked)
          continue
        }
      } else if result.isLocked {
        let isComplete = session.provider.listsLockedItems
        guard isComplete, !stored.contains(where: \.hidesAttributes) else { throw failure(.locked) }
      }
      if stored.count == paths.count { return stored.sorted { $0.replaces($1) } }
      gone.formUnion(Set(paths).subtracting(stored.map(\.path)))
      try checkRepetition()
    }
  }

  /// How often a collection is unlocked for one look at it: it may be locked again at once.
  private static let mostUnlockings = 3
}

extension StoredItem {
  /// Whether the secret is still to be fetched, and can be.
  fileprivate var canBeRead: Bool { secret == nil && !isLocked }
}

extension ItemQuery {
  /// Whether what the provider finds by the attributes is all that is selected.
  fileprivate var asksForAttributesOnly: Bool {
    !ignoresCase && kind == nil && label == nil && created == nil && modified == nil && limit == nil
  }
}
#endif
