#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds items, newest first.
  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    if let key = query.key, query.asksForKeyOnly, query.unlocks {
      return try items(for: [key], query.details).map(\.value)
    }
    return try selectedItems(matching: query)
  }

  /// Finds items by whatever a query asks for, even while others change them.
  func selectedItems(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    var gone: Set<ObjectPath> = []
    while true {
      let selected = try storedItems(matching: query, fetching: query.details)
        .map { (key: $0, item: $1[0]) }
      let unread =
        query.details.contains(.secret) ? selected.map(\.item).filter(\.canBeRead).map(\.path) : []
      let secrets = try contents(of: ItemRequest(unread, .secret, in: session)).secrets
      let missing = unread.filter { secrets[$0] == nil }
      if missing.isEmpty {
        return selected.map { key, stored in
          stored.item(
            key, secret: stored.secret ?? secrets[stored.path], details: query.details)
        }
      }
      // What vanished in between was removed, replaced or locked, and another search tells which.
      if try !isLocked(existingCollection()) {
        if !gone.isDisjoint(with: missing) {
          throw unexpectedAnswer("no secret for an item that it lists as unlocked")
        }
        gone.formUnion(missing)
      }
      try checkDeadline()
    }
  }

  // MARK: What a query selects

  /// Finds the items that a query selects, newest first.
  ///
  /// - Parameters:
  ///   - query: Which items.
  ///   - details: What of them is wanted; the secrets come along if no other items' would.
  /// - Returns: For each key its items, the valid one first; there are others when a process was
  ///   killed while it replaced one.
  /// - Throws: Any reason for not knowing the answer.
  func storedItems(
    matching query: ItemQuery, fetching details: ItemQuery.Details = []
  ) throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    let selected =
      if let key = query.key {
        [(key: key, items: try storedItems(for: key, unlocking: query.unlocks))]
      } else {
        try candidates(for: query, details)
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
    for query: ItemQuery, _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [(key: ItemKey, items: [StoredItem])] {
    // A provider compares letter by letter.
    let attributes = query.ignoresCase ? [:] : query.attributes
    let details = query.asksForAttributesOnly ? details : []
    let stored = try storedItems(with: attributes, unlocking: query.unlocks, fetching: details)
    let known = stored.compactMap { stored in
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
  /// - Returns: The items; none when there are none.
  /// - Throws: `.ambiguous` when several items of other programs match and none of ours.
  func storedItems(
    for key: ItemKey, unlocking: Bool = true
  ) throws(SecureStorageError) -> [StoredItem] {
    let own = try storedItems(with: key.ownAttributes, unlocking: unlocking)
    if !own.isEmpty { return own }
    let foreign = try foreignItems(for: key, unlocking: unlocking)
    if foreign.count > 1 {
      let names = foreign.map { "\"\($0.label)\" (\($0.path.text))" }.joined(separator: ", ")
      throw failure(.ambiguous, "Several items of other programs match \(key): \(names).")
    }
    return foreign
  }

  /// Finds the items of other programs that have all parts of a key.
  func foreignItems(
    for key: ItemKey, unlocking: Bool = true
  ) throws(SecureStorageError) -> [StoredItem] {
    try storedItems(with: key.attributes, unlocking: unlocking).filter { stored in
      // Items of ours that have the same parts belong to keys of another kind. And of a server
      // every further part counts: the password of another port is another password.
      !stored.isOwn
        && (key.kind != .internetPassword || ItemKey(itemAttributes: stored.attributes) == key)
    }
  }

  /// Finds all items with these attributes, what replaces another first.
  ///
  /// They are unlocked for that: before the first unlock since log-in gnome-keyring tells neither
  /// label nor attributes. With the secrets, if they are wanted, as far as they can be read.
  func storedItems(
    with attributes: [String: String], unlocking: Bool = true,
    fetching details: ItemQuery.Details = []
  ) throws(SecureStorageError) -> [StoredItem] {
    // What a search lists may be gone before it is looked at. Then something may have taken its
    // place, and only another search tells; what is listed again and again is a provider's ghost.
    var gone: Set<ObjectPath> = []
    var unlocked: Set<ObjectPath> = []
    while true {
      let paths = try search(attributes).filter { !gone.contains($0) }
      let contents = try contents(
        of: ItemRequest(paths, details.union(.metadata), in: session))
      let stored = paths.compactMap { contents.stored(at: $0) }
      let locked = stored.filter { $0.isLocked && !unlocked.contains($0.path) }.map(\.path)
      if unlocking, !locked.isEmpty {
        try unlock(locked)
        unlocked.formUnion(locked)
        continue
      }
      if stored.count == paths.count { return stored.sorted { $0.replaces($1) } }
      gone.formUnion(Set(paths).subtracting(stored.map(\.path)))
      try checkDeadline()
    }
  }
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
