#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// What a search has found, and whether what it has not found may be hidden.
struct SearchResult {
  /// The items found, for each set of attributes.
  var found: [[ObjectPath]]
  /// The answers to the messages that traveled along.
  var answers: [Variant?]
  /// The collections that were locked, so that they may have more items.
  var locked: [ObjectPath] = []
}

extension SecretServiceStorage.Collection {
  /// The messages that search for the items with these keys, one for each; none for a collection that
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
  ) throws(SecureStorageError) -> SearchResult {
    let collections = try searchedCollections()
    let searches = Self.searches(for: attributeSets, in: collections)
    let answers = try send(searches + others)
    return SearchResult(
      found: Self.found(attributeSets.count, answers.prefix(searches.count)),
      answers: Array(answers.dropFirst(searches.count)))
  }

  /// Finds the items that have all the attributes of a set, and the collections that may hide some.
  ///
  /// The question whether the collection is there and unlocked travels with the searches: before them
  /// and after them where the provider hides what is locked, so that no lock or unlocking in between
  /// makes a hidden item an absent one.
  ///
  /// - Parameters:
  ///   - attributeSets: The sets of attributes.
  ///   - others: Messages that travel with the searches.
  /// - Returns: What was found for each set, the answers to the other messages, and the collections
  ///   that are locked.
  /// - Throws: `SecureStorageError` if one of the messages fails, or if the collection isn't there and
  ///   the provider may only have closed it.
  func searchEverything(
    _ attributeSets: [[String: String]], with others: [Message] = []
  ) throws(SecureStorageError) -> SearchResult {
    while true {
      let collections = try searchedCollections()
      if collections.isEmpty { try expectNoCollection() }
      let list = followsAllCollections ? [Message.collections()] : []
      let questions = collections.map { Message.isLocked($0) }
      let searches = Self.searches(for: attributeSets, in: collections)
      let asksBefore = !session.provider.listsLockedItems
      var answers = try send(
        list + (asksBefore ? questions : []) + searches + others + questions)[...]
      if !list.isEmpty, try takeCollections(answers.popFirst() ?? nil) != collections {
        try checkDeadline()
        continue
      }
      let before = asksBefore ? answers.prefix(questions.count) : []
      answers = answers.dropFirst(before.count)
      let found = answers.prefix(searches.count)
      var result = SearchResult(
        found: Self.found(attributeSets.count, found),
        answers: Array(answers.dropFirst(searches.count).dropLast(questions.count)))
      let after = answers.suffix(questions.count)
      for (index, collection) in collections.enumerated() {
        // A collection that is there and refuses to be searched is locked, too.
        let refuses = found.enumerated().contains {
          $0.offset % collections.count == index && $0.element == nil
        }
        let states = [before, after].compactMap { $0.dropFirst(index).first }
        if try areLocked(states, refuses) { result.locked.append(collection) }
      }
      return result
    }
  }

  /// Reads the answers to the questions about the lock of one collection.
  private func areLocked(
    _ answers: [Variant?], _ refusesSearch: Bool
  ) throws(SecureStorageError) -> Bool {
    var isOneLocked = refusesSearch
    for answer in answers {
      guard let answer else {
        try expectNoCollection()
        return false
      }
      if try isLocked(answer) { isOneLocked = true }
    }
    return isOneLocked
  }

  /// Throws that the collection isn't there, unless that means that nothing is stored.
  func expectNoCollection() throws(SecureStorageError) {
    if !session.provider.listsAllCollections { throw noCollection() }
  }

  private static func searches(
    for attributeSets: [[String: String]], in collections: [ObjectPath]
  ) -> [Message] {
    attributeSets.flatMap { attributes in
      // KeePassXC 2.7.4 answers a search that names nothing with nothing.
      collections.map { attributes.isEmpty ? .items(of: $0) : .searchItems(in: $0, attributes) }
    }
  }

  private static func found(
    _ count: Int, _ answers: ArraySlice<Variant?>
  ) -> [[ObjectPath]] {
    if count == 0 { return [] }
    let size = answers.count / count
    return (0..<count).map { index in
      answers.dropFirst(index * size).prefix(size).flatMap { $0.map(paths) ?? [] }
    }
  }

  /// The items in the answer to a search, or to the question for a property.
  private static func paths(_ answer: Variant) -> [ObjectPath] {
    let value = answer.child(0)
    if value.isOfType("ao") { return value.paths }
    let property = value.child(0)
    return property.isOfType("ao") ? property.paths : []
  }
}

// MARK: - Where to search

extension Call {
  /// Whether items of the default collection are looked for in all collections, because another one may
  /// be the default at any time.
  var followsAllCollections: Bool {
    options.collection == .default && !session.provider.keepsDefaultCollection
  }

  /// Returns the collections that items are looked for in.
  private func searchedCollections() throws(SecureStorageError) -> [ObjectPath] {
    guard followsAllCollections else { return try collection().map { [$0] } ?? [] }
    let known = session.knownCollections.withLock { $0 }
    if !known.isEmpty { return known }
    return try takeCollections(send(.collections()))
  }

  /// Remembers which collections the provider has.
  private func takeCollections(_ answer: Variant?) throws(SecureStorageError) -> [ObjectPath] {
    guard let list = answer?.child(0).child(0), list.isOfType("ao") else {
      throw unexpectedAnswer("no list of collections")
    }
    let paths = list.paths
    session.knownCollections.withLock { $0 = paths }
    return paths
  }

  /// Returns the collection that a new item with a key belongs to.
  ///
  /// Where the default collection changes by itself, that is the one with the service's other items.
  func collectionOfNewItem(_ key: ItemKey) throws(SecureStorageError) -> ObjectPath {
    if followsAllCollections, let service = key.attributes[AttributeName.service],
      let item = try search([[AttributeName.service: service]], with: []).found[0].first
    {
      return item.collection
    }
    return try existingCollection()
  }
}
#endif
