#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// The items that a search has found, and whether it may have missed some.
struct SearchResult {
  /// The items found, for each set of attributes.
  var found: [[ObjectPath]]
  /// The answers to the messages that traveled along.
  var answers: [Variant?] = []
  /// The items that were fetched side by side with the search.
  var contents = ItemContents()
  /// Whether the collection was locked, so that it may hide items.
  var isLocked = false
}

extension SecretServiceStorage.Collection {
  /// The messages that search for our own items with these keys, one for each; none for a collection that
  /// has to be looked up first.
  func searches(for keys: [ItemKey]) -> [Message] {
    alias.map { alias in
      keys.map { .searchItems(in: .collection(aliased: alias), $0.ownAttributes) }
    } ?? []
  }
}

extension Call {
  /// Finds the items, locked or not, that have all the attributes of a set.
  ///
  /// An item that is found is there. One that is not found may be hidden: see
  /// ``searchEverything(_:with:)``.
  ///
  /// - Parameters:
  ///   - attributeSets: The sets of attributes.
  ///   - others: Messages that travel with the searches, and arrive after them.
  /// - Returns: What was found for each set, and the answers to the other messages.
  /// - Throws: `SecureStorageError` if one of the messages fails.
  func search(
    _ attributeSets: [[String: String]], with others: [Message]
  ) async throws(SecureStorageError) -> SearchResult {
    guard let collection = try await collection() else {
      return SearchResult(found: attributeSets.map { _ in [] }, answers: try await send(others))
    }
    let answers = try await send(attributeSets.map { searchMessage(collection, $0) } + others)
    return SearchResult(
      found: answers.prefix(attributeSets.count).map(itemPaths),
      answers: Array(answers.dropFirst(attributeSets.count)))
  }

  /// Finds the items that have all the attributes of a set, and tells whether some may be hidden.
  ///
  /// The question whether the collection is there and unlocked travels with the searches: before them
  /// and after them where the provider hides what is locked, so that no locking or unlocking in between
  /// makes a hidden item an absent one.
  ///
  /// - Parameters:
  ///   - attributeSets: The sets of attributes.
  ///   - others: Messages that travel with the searches.
  /// - Returns: What was found for each set, the answers to the other messages, and whether the
  ///   collection is locked.
  /// - Throws: `SecureStorageError` if one of the messages fails, or if the collection isn't there and
  ///   the provider may only have closed it.
  func searchEverything(
    _ attributeSets: [[String: String]], with others: [Message] = []
  ) async throws(SecureStorageError) -> SearchResult {
    while true {
      guard let collection = try await collection() else {
        try expectNoCollection()
        return SearchResult(found: attributeSets.map { _ in [] }, answers: try await send(others))
      }
      let list = choosesCollection ? [Message.collections()] : []
      let question = Message.isLocked(collection)
      let before = provider.listsLockedItems ? [] : [question]
      let searches = attributeSets.map { searchMessage(collection, $0) }
      var answers = try await send(list + before + searches + others + [question])[...]
      if !list.isEmpty, try chooseCollection(from: answers.popFirst() ?? nil) != collection {
        try checkRepetition()
        continue
      }
      let states = Array(answers.prefix(before.count) + answers.suffix(1))
      answers = answers.dropFirst(before.count).dropLast()
      let found = answers.prefix(searches.count)
      // A collection that is there and refuses to be searched is locked, too.
      let refusesSearch = found.contains { $0 == nil }
      return SearchResult(
        found: found.map(itemPaths), answers: Array(answers.dropFirst(searches.count)),
        isLocked: try isLocked(states, refusesSearch))
    }
  }

  /// Reads the answers to the questions about the lock.
  private func isLocked(
    _ answers: [Variant?], _ refusesSearch: Bool
  ) throws(SecureStorageError) -> Bool {
    var wasLocked = refusesSearch
    for answer in answers {
      guard let answer else {
        try expectNoCollection()
        return false
      }
      if try isLocked(answer) { wasLocked = true }
    }
    return wasLocked
  }

  /// Throws that the collection isn't there, unless that means that nothing is stored.
  func expectNoCollection() throws(SecureStorageError) {
    if !provider.listsAllCollections { throw noCollection() }
  }
}

// MARK: - A default collection that changes by itself

extension Call {
  /// Whether the storage chooses one of all collections, as the default one may be another any time.
  var choosesCollection: Bool { isChosen(options.collection) }

  /// Returns the collection that stands for the default one, if there is any.
  func chosenCollection() async throws(SecureStorageError) -> ObjectPath? {
    if let chosen = session.chosenCollection.withLock({ $0 }) { return chosen }
    return try chooseCollection(from: await send(.collections()))
  }

  /// Chooses a collection, and remembers it: the first by name, whichever is in front.
  private func chooseCollection(
    from answer: Variant?
  ) throws(SecureStorageError) -> ObjectPath? {
    let chosen = ObjectPath.chosen(from: try collections(answer))
    session.chosenCollection.withLock { $0 = chosen }
    knownCollection = chosen
    return chosen
  }
}
#endif
