// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

/// The result of a search, which may have missed some items.
struct SearchResult {
  /// The found items for each set of attributes.
  var found: [[ObjectPath]]
  /// The answers to the messages that were sent with the search.
  var answers: [Variant?] = []
  /// The items that were fetched concurrently with the search.
  var contents = FetchedItems()
  /// `true` for a locked collection, which may hide items.
  var isLocked = false
}

extension SecretServiceStorage.Collection {
  /// Returns the messages that search for this package's own items, one message for each key.
  ///
  /// There are none for a collection that has to be looked up first.
  func searches(for keys: [ItemKey]) -> [MethodCall] {
    alias.map { alias in
      keys.map { .searchItems(in: .collection(aliased: alias), $0.ownAttributes) }
    } ?? []
  }
}

/// The part of an operation that finds items.
struct ItemFinder {
  let call: Operation

  init(_ call: Operation) { self.call = call }

  /// Finds the items, locked and unlocked ones, that have all the attributes of a set.
  ///
  /// A found item exists. An item that isn't found may be hidden: see ``searchEverything(_:with:)``.
  ///
  /// - Parameters:
  ///   - attributeSets: The sets of attributes.
  ///   - others: The messages to send with the searches. They arrive after the searches.
  /// - Returns: The found items for each set, and the answers to the other messages.
  /// - Throws: The failure of a message.
  func search(
    _ attributeSets: [[String: String]], with others: [MethodCall]
  ) async throws(SecureStorageError) -> SearchResult {
    let reply = try await sendToCollection { collection in
      attributeSets.map { call.searchMessage(collection, $0) } + others
    }
    switch reply {
    case .noCollection: return try await noItems(attributeSets, with: others)
    case .hidesItems: return resultOfHiddenItems(attributeSets, without: others)
    case .answers(let answers):
      return SearchResult(
        found: answers.prefix(attributeSets.count).map(call.itemPaths),
        answers: Array(answers.dropFirst(attributeSets.count)))
    }
  }

  /// Finds the items that have all the attributes of a set, and reports whether some may be hidden.
  ///
  /// A message that asks for the state of the collection is sent with the searches. If the provider hides
  /// locked items, that message is sent both before and after the searches. Otherwise a hidden item could
  /// look like an absent one when the collection is locked or unlocked in between.
  ///
  /// - Parameters:
  ///   - attributeSets: The sets of attributes.
  ///   - others: The messages to send with the searches.
  /// - Returns: The found items for each set, the answers to the other messages, and the state of the lock.
  /// - Throws: The failure of a message, or the error for items that may be elsewhere: see
  ///   ``confirmThatNoneIsElsewhere()`` and ``confirmThatThereIsNoCollection()``.
  func searchEverything(
    _ attributeSets: [[String: String]], with others: [MethodCall] = []
  ) async throws(SecureStorageError) -> SearchResult {
    let asksBefore = !call.provider.listsLockedItems
    let reply = try await sendToCollection { collection in
      let question = MethodCall.isLocked(collection)
      let searches = attributeSets.map { call.searchMessage(collection, $0) }
      return (asksBefore ? [question] : []) + searches + others + [question]
    }
    var answers: ArraySlice<Variant?>
    switch reply {
    case .noCollection:
      return try await searchWithoutCollection(attributeSets, with: others)
    case .hidesItems: return resultOfHiddenItems(attributeSets, without: others)
    case .answers(let all): answers = all[...]
    }
    let before = asksBefore ? 1 : 0
    let states = (answers.prefix(before) + answers.suffix(1)).compactMap(\.self)
    answers = answers.dropFirst(before).dropLast()
    let found = answers.prefix(attributeSets.count)
    let paths = found.map(call.itemPaths)
    let isComplete = !paths.contains(where: \.isEmpty)
    if !isComplete, states.count <= before {
      return try await searchWithoutCollection(attributeSets, with: others)
    }
    // A collection that exists and refuses to be searched is locked, too.
    var isLocked = found.contains { $0 == nil }
    for state in states where try call.isLocked(state) { isLocked = true }
    // Nothing is known any more if the collection was locked in the meantime.
    if asksBefore, let collection = call.knownCollection,
      call.session.seenUnlocked[collection] != nil
    {
      call.session.seenUnlocked[collection] = isLocked ? nil : .now
    }
    if !isLocked, !isComplete {
      try await HiddenCollections(call: call).confirmThatNoneIsElsewhere()
    }
    return SearchResult(
      found: paths, answers: Array(answers.dropFirst(attributeSets.count)), isLocked: isLocked)
  }

  /// Returns a result without items, or searches again in a collection that has come by now.
  private func searchWithoutCollection(
    _ attributeSets: [[String: String]], with others: [MethodCall]
  ) async throws(SecureStorageError) -> SearchResult {
    if try await HiddenCollections(call: call).confirmThatThereIsNoCollection() {
      return try await noItems(attributeSets, with: others)
    }
    try call.checkRepetition()
    return try await searchEverything(attributeSets, with: others)
  }

  /// Returns a result without items, and sends only the other messages.
  private func noItems(
    _ attributeSets: [[String: String]], with others: [MethodCall]
  ) async throws(SecureStorageError) -> SearchResult {
    SearchResult(found: attributeSets.map { _ in [] }, answers: try await call.send(others))
  }

  /// Returns the result for a locked collection, which hides its items and is sent nothing.
  private func resultOfHiddenItems(
    _ attributeSets: [[String: String]], without others: [MethodCall]
  ) -> SearchResult {
    SearchResult(
      found: attributeSets.map { _ in [] }, answers: others.map { _ in nil }, isLocked: true)
  }

  /// An outcome of messages about the storage's collection.
  private enum Reply {
    /// The collection is missing.
    case noCollection
    /// The messages were kept back, because the collection is locked, and the provider hides the items of a locked one.
    case hidesItems
    /// The answer to each message.
    case answers([Variant?])
  }

  /// Sends messages about the storage's collection, and again if another collection is chosen by now.
  ///
  /// - Parameter messages: A closure that returns the messages about a collection.
  /// - Returns: The outcome.
  /// - Throws: The failure of a message.
  private func sendToCollection(
    _ messages: (ObjectPath) -> [MethodCall]
  ) async throws(SecureStorageError) -> Reply {
    while let collection = try await call.collection() {
      if try await hidesItems(collection) { return .hidesItems }
      if call.knownCollection == collection {
        if !call.choosesCollection { return .answers(try await call.send(messages(collection))) }
        let questions = call.choiceQuestions
        let answers = try await call.send(questions + messages(collection))
        if try call.chooseCollection(from: answers) == collection {
          return .answers(Array(answers.dropFirst(questions.count)))
        }
      }
      try call.checkRepetition()
    }
    return .noCollection
  }

  /// A time that is too short to lock a collection and unlock it again.
  private static let timeOfLock = Duration.seconds(2)

  /// Returns `true` for a locked collection whose items the provider hides.
  ///
  /// Such a provider may crash if a search arrives between two steps of unlocking a collection. A search that waits for
  /// this answer arrives later. By then, another collection may be chosen.
  private func hidesItems(_ collection: ObjectPath) async throws(SecureStorageError) -> Bool {
    if call.provider.listsLockedItems { return false }
    if let time = call.session.seenUnlocked[collection], time.duration(to: .now) < Self.timeOfLock {
      return false
    }
    let questions = call.choosesCollection ? call.choiceQuestions : []
    let answers = try await call.send(questions + [.isLocked(collection)])
    if call.choosesCollection, try call.chooseCollection(from: answers) != collection {
      return false
    }
    guard let answer = answers[questions.count] else { return false }
    let isLocked = try call.isLocked(answer)
    call.session.seenUnlocked[collection] = isLocked ? nil : .now
    return isLocked
  }

  /// Returns the last known path of the item with a key.
  func knownPath(of key: ItemKey) -> ObjectPath? {
    call.session.itemPaths[ItemLocation(collection: call.options.collection, key: key)]
  }

  /// Remembers the path of the item with a key, or forgets it if the new path is `nil`.
  func record(_ path: ObjectPath?, of key: ItemKey) {
    call.session.itemPaths[ItemLocation(collection: call.options.collection, key: key)] = path
  }

  /// Forgets an item that is being removed.
  func forget(_ key: ItemKey) {
    record(nil, of: key)
    call.session.itemsThere[ItemLocation(collection: call.options.collection, key: key)] = nil
  }
}

// MARK: - Messages and answers

extension ProviderClient {
  /// Returns the message that finds the items, locked and unlocked ones, that have all these attributes.
  func searchMessage(_ collection: ObjectPath, _ attributes: [String: String]) -> MethodCall {
    // Not every provider finds all items if a search has no attributes.
    attributes.isEmpty && !provider.findsAllWithoutAttributes
      ? .items(of: collection) : .searchItems(in: collection, attributes)
  }

  /// Returns the items in the answer to a search.
  func itemPaths(in answer: Variant?) -> [ObjectPath] {
    guard let value = answer?.child(0) else { return [] }
    if value.isOfType("ao") { return value.paths }
    let property = value.child(0)
    return property.isOfType("ao") ? property.paths : []
  }
}
#endif
