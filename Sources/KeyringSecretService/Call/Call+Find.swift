#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
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
    }.items.filter { !incomplete.contains($0.path) }
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
    let asksForLock = !provider.listsLockedItems
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

  /// The number of items up to which each is looked at.
  ///
  /// A search for our own items replaces a longer list.
  private static let fewItems = 16

  /// Finds items with these attributes, what replaces another first.
  ///
  /// - Parameters:
  ///   - attributes: The attributes.
  ///   - unlocking: Whether what is locked is unlocked.
  ///   - details: What of the items to fetch.
  ///   - most: How many items are looked at, the first in the provider's list.
  /// - Returns: The items, and whether there are no others.
  /// - Throws: `.locked` if some of them may be hidden.
  func storedItems(
    with attributes: [String: String], unlocking: Bool = true,
    fetching details: ItemQuery.Details = [], first most: Int = .max
  ) async throws(SecureStorageError) -> (items: [StoredItem], isAll: Bool) {
    try await storedItems(
      unlocking: unlocking, havingAttributes: !attributes.isEmpty, fetching: details, first: most
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
  ///   - details: What of the items to fetch: ``ItemQuery/Details/attributes``, or everything but the
  ///     secret anyway.
  ///   - most: How many items are looked at, the first of those that were found.
  ///   - search: Searches for the items.
  /// - Returns: The items, and whether there are no others.
  /// - Throws: `.locked` if some of them may be hidden.
  private func storedItems(
    unlocking: Bool, havingAttributes: Bool, fetching details: ItemQuery.Details = [],
    first most: Int = .max, by search: () async throws(SecureStorageError) -> SearchResult
  ) async throws(SecureStorageError) -> (items: [StoredItem], isAll: Bool) {
    // What a search lists may be gone before it is looked at. Then something may have taken its
    // place, and only another search tells; what is listed again and again is a provider's ghost.
    var gone: Set<ObjectPath> = []
    var unlocked: Set<ObjectPath> = []
    var unlockings = 0
    while true {
      let result = try await search()
      if unlocking, result.isLocked {
        unlockings += 1
        if unlockings > Self.mostUnlockings { throw failure(.locked) }
        try await unlock([lockableCollection()])
        continue
      }
      let listed = result.found[0].filter { !gone.contains($0) }
      // To look at most of them takes as long as to look at all.
      let paths = most > listed.count / 2 ? listed[...] : listed.prefix(most)
      let unknown = paths.filter { result.contents.properties[$0] == nil }
      let rest = try await look(at: unknown, details)
      let stored = paths.enumerated().compactMap { place, path in
        var stored = result.contents.stored(at: path) ?? rest.stored(at: path)
        stored?.place = place
        return stored
      }.filter { !havingAttributes || $0.showsAttributes }
      if unlocking {
        let locked = stored.filter { $0.isLocked && !unlocked.contains($0.path) }.map(\.path)
        if !locked.isEmpty {
          try await unlock(locked)
          unlocked.formUnion(locked)
          continue
        }
      } else if result.isLocked {
        let isComplete = provider.listsLockedItems
        guard isComplete, !stored.contains(where: \.hidesAttributes) else { throw failure(.locked) }
      }
      if stored.count == paths.count {
        return (stored.sorted { $0.replaces($1) }, isAll: paths.count == listed.count)
      }
      gone.formUnion(Set(paths).subtracting(stored.map(\.path)))
      try checkRepetition()
    }
  }

  /// Fetches what is wanted of items that were found, and tells how far that has come.
  private func look(
    at paths: [ObjectPath], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> ItemContents {
    let details = details.contains(.attributes) ? details : details.union(.metadata)
    var looked = 0
    var contents = try await contents(of: ItemRequest(paths, details, in: session)) { answered in
      // The secrets come last.
      if looked < paths.count { whenLooking(min(answered, paths.count), paths.count) }
      looked = answered
    }
    let unclear = details.contains(.attributes) ? contents.unclear : []
    contents.update(
      unclear, from: try await self.contents(of: ItemRequest(unclear, .metadata, in: session)))
    return contents
  }

  /// How often a collection is unlocked for one look at it: it may be locked again at once.
  private static let mostUnlockings = 3
}
#endif
