#if SecretService && os(Linux)
internal import KeyringStorage

extension Operation {
  /// Stores an item.
  ///
  /// The secret of an item changes in one message, so the old item or the new one is there at every moment.
  /// If attributes change with the secret, such as a credential's login, the new item is created before the
  /// old one is deleted. The new item has a higher revision, so a reader that finds both uses the new one.
  func save(_ item: SecureItem, mode: SaveMode) async throws(SecureStorageError) {
    try refuseReservedAttributes(of: item)
    var vanished: Set<ObjectPath> = []
    var refusals = 0
    while true {
      do throws(SecureStorageError) {
        if try await saveUndisturbed(item, mode: mode, &vanished) { return }
      } catch {
        // The item was locked after it was examined, so another item may have appeared in the meantime.
        refusals += 1
        guard error.underlying?.domain == Provider.errorOfLockedObject, refusals < 3 else {
          throw error
        }
      }
      try checkRepetition()
    }
  }

  /// Stores an item, and returns `false` if another program interfered.
  private func saveUndisturbed(
    _ item: SecureItem, mode: SaveMode, _ vanished: inout Set<ObjectPath>
  ) async throws(SecureStorageError) -> Bool {
    let (stored, incomplete) = try await storedItems(toBeReplacedBy: item.key, mode: mode)
    if mode == .add, !stored.isEmpty { throw failure(.itemAlreadyExists) }
    if mode == .update, stored.isEmpty { throw failure(.itemNotFound) }
    try await removeReplaced(incomplete)
    guard let valid = stored.first else { return try await create(item, mode: mode) }
    // The revision is higher than those of the incomplete items, too, in case one of them stays.
    let revision = ([valid] + incomplete).map(\.revision).max() ?? 0
    guard try await replace(valid, by: item, revision + 1) else {
      // The item vanished before it was replaced. Some providers also report that if they computed another
      // key for the session. A new session solves that.
      if !vanished.insert(valid.path).inserted { throw unusableSession() }
      return false
    }
    try await removeReplaced(superseded(stored))
    return true
  }

  /// Removes the items that a new item has replaced.
  ///
  /// If the user declines, the next save removes them.
  private func removeReplaced(_ items: [StoredItem]) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await remove(items.map(\.path))
    } catch {
      guard [.locked, .userCanceled].contains(error.code) else { throw error }
    }
  }

  /// Finds the items stored under a key, and separates those whose secret never arrived.
  ///
  /// If several items of other programs match, none of them can be replaced, and an addition fails.
  private func storedItems(
    toBeReplacedBy key: ItemKey, mode: SaveMode
  ) async throws(SecureStorageError) -> (stored: [StoredItem], incomplete: [StoredItem]) {
    let stored: [StoredItem]
    do throws(SecureStorageError) {
      stored = try await storedItems(for: key)
    } catch {
      throw mode == .add && error.code == .ambiguous ? failure(.itemAlreadyExists) : error
    }
    let own = stored.filter(\.isOwn)
    // A single item is replaced regardless of its secret, so the secret isn't fetched.
    guard own.count > (mode == .addOrReplace ? 1 : 0) else { return (stored, []) }
    let request = ItemFetch(own.map(\.path), .secret, in: session)
    let incomplete = try await contents(of: request).incomplete
    if incomplete.isEmpty { return (stored, []) }
    return (
      try await storedItems(for: key, ignoring: incomplete),
      own.filter { incomplete.contains($0.path) }
    )
  }

  /// Throws an error if the item uses the name of an attribute that the provider reserves for itself.
  private func refuseReservedAttributes(of item: SecureItem) throws(SecureStorageError) {
    let reserved = provider.reservedAttributes
    let names = Set(item.key.attributes.keys).union((item.attributes ?? [:]).keys)
    guard let name = names.intersection(reserved).min() else { return }
    var error = failure(
      .invalidArgument, "The keyring has an attribute \"\(name)\" of its own in every item.")
    error.argument = item.key.attributes[name] == nil ? "attributes" : "key"
    throw error
  }

  // MARK: New items

  /// Creates an item, and returns `false` if an addition found another item and was undone.
  private func create(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) -> Bool {
    let secret = try storage.requireSecret(item)
    let attributes = item.key.newAttributes.merging(item.attributes ?? [:]) { $1 }
      .marking(secret)
    let label = item.label ?? item.key.defaultLabel
    // `CreateItem` doesn't replace an item with other attributes. An item that another process creates at
    // this moment would stay next to this one.
    let mayBeBeside = mode == .add || item.attributes?.isEmpty == false || secret.count == 0
    let created = try await createAnotherItem(
      besides: mayBeBeside ? item.key : nil, attributes: attributes, label: label, secret: secret,
      replacing: mode != .add)
    if mode == .add {
      if !created.isAlone, try await !isFirst(created.path, under: item.key) {
        try await remove([created.path])
        return false
      }
    } else if mayBeBeside, !created.isAlone {
      try await removeSuperseded(item.key)
    }
    record(created.path, of: item.key)
    return true
  }

  /// Returns `true` if an addition was the first of several concurrent ones.
  ///
  /// The check is necessary because the provider has no "create if absent".
  private func isFirst(
    _ path: ObjectPath, under key: ItemKey
  ) async throws(SecureStorageError) -> Bool {
    let own = try await storedItems(for: key).filter(\.isOwn)
    // Another program has removed the item since. That doesn't undo the addition.
    if own.isEmpty { return true }
    // If paths don't show the order of two items of the same second, neither is the first.
    return own.first?.path == path && (own.count == 1 || provider.keepsItemPaths)
  }

  /// Removes items that another process created by saving under the same key at the same time.
  ///
  /// All processes that save order the items in the same way and remove all but the valid one. Exactly one
  /// item is left, regardless of which process comes last.
  private func removeSuperseded(_ key: ItemKey) async throws(SecureStorageError) {
    try await removeReplaced(superseded(storedItems(for: key)))
  }

  /// Returns the items that the first one has replaced and that are no longer needed.
  ///
  /// A provider that writes secrets late would lose the valid item if it died now. The newest predecessor
  /// that is certainly on disk is therefore kept until the next save. An item of the same revision isn't a
  /// predecessor. It was created at the same moment, and would become valid if the valid item changed.
  private func superseded(_ stored: [StoredItem]) -> [StoredItem] {
    guard let valid = stored.first else { return [] }
    let delay = provider.secretDelay
    var kept: StoredItem?
    if valid.wasChanged(within: delay) {
      let predecessors = stored.filter { $0.isOwn && $0.revision < valid.revision }
      kept = predecessors.first { !$0.wasChanged(within: delay) } ?? predecessors.last
    }
    return stored.dropFirst().filter { $0.path != kept?.path }
  }

  // MARK: Existing items

  /// Replaces an item.
  ///
  /// If the item is removed after its secret was written, the save still succeeds. An update that reported
  /// "not found" would deny a value that readers have seen.
  ///
  /// - Parameters:
  ///   - stored: The item to replace.
  ///   - item: The item to store in its place.
  ///   - revision: The revision of the new item, if one is created.
  /// - Returns: `true` if the item was replaced, or `false` if it had vanished.
  /// - Throws: `SecureStorageError` if the item can't be replaced.
  private func replace(
    _ stored: StoredItem, by item: SecureItem, _ revision: Int
  ) async throws(SecureStorageError) -> Bool {
    let attributes = stored.attributes.merging(item.attributes ?? [:]) { $1 }
    guard let secret = item.secret else {
      return try await changeMetadata(of: stored, attributes, item.label)
    }
    if !attributes.hasSameBytes(stored.attributes) {
      var attributes = attributes
      attributes[AttributeName.revision] = String(revision)
      try await replaceWithNewAttributes(stored, by: item, attributes, secret)
      return true
    }
    if stored.isOwn, let label = item.label, !label.hasSameBytes(stored.label) {
      guard try await mark(stored, for: secret) else { return false }
      // This is the only message that changes both at once.
      let path = try await createItem(
        in: stored.path.collection, attributes: attributes.marking(secret, isThere: true),
        label: label, secret: secret
      ).path
      if path != stored.path {
        try await removeSuperseded(item.key)
        return true
      }
      // Some providers keep the label of the item that they replace. Otherwise the label isn't set again:
      // others crash when a label is set while other programs replace and remove the item.
      let answer = try await send(.label(ofItem: path))?.child(0).child(0)
      guard let answer, answer.isOfType("s"), answer.text.hasSameBytes(stored.label) else {
        return true
      }
      _ = try await changeMetadata(of: stored, attributes, item.label)
      return true
    }
    // Change the item in place, so that another program finds its item as it left it. Also, some providers
    // ask the user about every replacement.
    guard try await write(secret, to: stored) else { return false }
    _ = try await changeMetadata(of: stored, attributes, item.label)
    if stored.isOwn { record(stored.path, of: item.key) }
    return true
  }

  /// Replaces the secret of an item.
  private func write(
    _ secret: Secret, to stored: StoredItem
  ) async throws(SecureStorageError) -> Bool {
    guard try await mark(stored, for: secret) else { return false }
    return try await write([.setSecret(try encode(secret), of: stored.path)])
  }

  /// Marks an item of this package before its secret becomes empty.
  ///
  /// Without the mark, an empty secret counts as one that never arrived.
  private func mark(
    _ stored: StoredItem, for secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    let attributes = stored.attributes.marking(secret, isThere: true)
    if !stored.isOwn || attributes.hasSameBytes(stored.attributes) { return true }
    return try await write([.setAttributes(attributes, of: stored.path)])
  }

  /// Replaces an item with one that has other attributes.
  ///
  /// At every moment there is a complete item, and never a mixture of both.
  private func replaceWithNewAttributes(
    _ stored: StoredItem, by item: SecureItem, _ attributes: [String: String], _ secret: Secret
  ) async throws(SecureStorageError) {
    let attributes = attributes.merging(item.key.ownAttributes) { $1 }.marking(secret)
    let created = try await createAnotherItem(
      besides: item.key, in: stored.path.collection, attributes: attributes,
      label: item.label ?? stored.label, secret: secret)
    var gone: Set<ObjectPath> = []
    if created.path != stored.path, !stored.isOwn || provider.secretDelay == .zero {
      try await removeReplaced([stored])
      gone = [stored.path]
    }
    if created.beside.map({ Set($0).isSubset(of: gone) }) != true {
      try await removeSuperseded(item.key)
    }
    record(created.path, of: item.key)
  }

  /// Changes the label and the attributes if they differ, and returns `false` if the item vanished.
  private func changeMetadata(
    of stored: StoredItem, _ attributes: [String: String], _ label: String?
  ) async throws(SecureStorageError) -> Bool {
    var messages: [MethodCall] = []
    if !attributes.hasSameBytes(stored.attributes) {
      messages.append(.setAttributes(attributes, of: stored.path))
    }
    if let label, !label.hasSameBytes(stored.label) {
      messages.append(.setLabel(label, of: stored.path))
    }
    return try await write(messages)
  }

  // MARK: Sending changes

  /// An item that was created.
  private struct CreatedItem {
    let path: ObjectPath
    /// The other items of this package with the same key, or `nil` if they aren't known.
    var beside: [ObjectPath]?

    var isAlone: Bool { beside?.isEmpty == true }
  }

  /// Creates an item with attributes that no other item has.
  private func createAnotherItem(
    besides key: ItemKey?, in collection: ObjectPath? = nil, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true
  ) async throws(SecureStorageError) -> CreatedItem {
    do throws(SecureStorageError) {
      let collection = if let collection { collection } else { try await existingCollection() }
      return try await createItem(
        besides: key, in: collection, attributes: attributes, label: label, secret: secret,
        replacing: replacing)
    } catch {
      guard sessionIsUnusable else { throw error }
      // The provider may have created an item anyway, without the secret, which it couldn't decrypt.
      let made = try await storedItems(with: attributes.filter { $0.key != AttributeName.schema })
        .items
        .filter { $0.attributes.hasSameBytes(attributes) }
      try await remove(made.map(\.path))
      hasWritten = false
      throw error
    }
  }

  /// Creates an item.
  ///
  /// - Parameters:
  ///   - key: The key for a concurrent search for this package's other items, or `nil` for no search.
  ///   - collection: The collection of the item.
  ///   - attributes: The attributes of the item.
  ///   - label: The label of the item.
  ///   - secret: The secret of the item.
  ///   - replacing: A Boolean value that indicates whether to replace an item with the same attributes.
  /// - Returns: The item, and the result of the search.
  /// - Throws: `SecureStorageError` if the item can't be created.
  private func createItem(
    besides key: ItemKey? = nil, in collection: ObjectPath, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true
  ) async throws(SecureStorageError) -> CreatedItem {
    let secret = try encode(secret)
    func send(to collection: ObjectPath) async throws(SecureStorageError) -> [Variant?] {
      hasWritten = true
      let creation = MethodCall.createItem(
        in: collection, attributes: attributes, label: label, secret: secret, replacing: replacing)
      let search = key.map { MethodCall.searchItems(in: collection, $0.ownAttributes) }
      return try await self.send([creation] + (search.map { [$0] } ?? []))
    }
    var answers = try await send(to: collection)
    if answers[0] == nil {
      try expectNoCollection()
      answers = try await send(to: newDefaultCollection())
    }
    guard let answer = answers[0] else { throw noCollection() }
    let path = ObjectPath(answer.child(0).text)
    if !path.isNone {
      // A search that doesn't find the item that was just created says nothing about others.
      let found = answers.dropFirst().first??.child(0).paths
      let beside = found?.contains(path) == true ? found?.filter { $0 != path } : nil
      return CreatedItem(path: path, beside: beside)
    }
    let result = try await self.answer(to: ObjectPath(answer.child(1).text))
    guard result.isOfType("o") else { throw unexpectedAnswer("no item") }
    return CreatedItem(path: ObjectPath(result.text))
  }

  /// Sends messages that change an item, and returns `false` if the item no longer exists.
  private func write(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool {
    if messages.isEmpty { return true }
    hasWritten = true
    let collection = messages[0].object.collection
    let questions =
      provider.refusesWritesWhileLocked ? [] : [MethodCall.isLocked(collection)]
    func announce() async {
      // One of several messages changes the label, and the provider signals that change.
      if messages.count == 1 { await session.announce(messages[0]) }
    }
    // A message that was never sent isn't announced.
    try checkDeadline()
    var answers: ArraySlice<Variant?>
    do throws(SecureStorageError) {
      answers = try await send(questions + messages + questions)[...]
    } catch {
      // The change may take place even if the wait for it was given up.
      if [.timedOut, .canceled, .connectionLost].contains(error.code) { await announce() }
      throw error
    }
    let states = answers.prefix(questions.count) + answers.suffix(questions.count)
    answers = answers.dropFirst(questions.count).dropLast(questions.count)
    guard answers.allSatisfy({ $0 != nil }) else {
      await announce()
      return false
    }
    var wasLocked = false
    for case let state? in states where try isLocked(state) { wasLocked = true }
    if !wasLocked {
      await announce()
      return true
    }
    try await unlock([collection])
    return try await write(messages)
  }

  private func encode(_ secret: Secret) throws(SecureStorageError) -> Variant {
    if let encoded = session.encode(secret) { return encoded }
    throw failure(.other, "The secret could not be encrypted.")
  }
}

extension [String: String] {
  /// Returns the attributes for an item with a secret.
  ///
  /// An empty secret is marked, so that it doesn't count as one that never arrived.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - isThere: A Boolean value that indicates whether an item already has the attributes. Such an item
  ///     keeps its mark.
  /// - Returns: The attributes.
  fileprivate func marking(_ secret: Secret, isThere: Bool = false) -> [String: String] {
    var attributes = self
    if secret.count == 0 {
      attributes[AttributeName.emptySecret] = "yes"
    } else if !isThere {
      attributes[AttributeName.emptySecret] = nil
    }
    return attributes
  }
}
#endif
