#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Stores an item.
  ///
  /// The secret of an item changes in one message, so that at every moment the old item or the new
  /// one is there. When attributes change with it (a credential's login), the new item is created
  /// before the old one is deleted, and carries a higher revision: whoever meets both takes it.
  func save(_ item: SecureItem, _ mode: SaveMode) async throws(SecureStorageError) {
    try refuseReservedAttributes(of: item)
    var vanished: Set<ObjectPath> = []
    var refusals = 0
    while true {
      do throws(SecureStorageError) {
        if try await saveUndisturbed(item, mode, &vanished) { return }
      } catch {
        // It was locked after it was looked at, so that something may have appeared meanwhile.
        refusals += 1
        guard error.underlying?.domain == BusFailure.locked, refusals < 3 else { throw error }
      }
      try checkRepetition()
    }
  }

  /// Stores an item; `false` when another program has got in between.
  private func saveUndisturbed(
    _ item: SecureItem, _ mode: SaveMode, _ vanished: inout Set<ObjectPath>
  ) async throws(SecureStorageError) -> Bool {
    let (stored, incomplete) = try await storedItems(toBeReplacedBy: item.key, mode)
    if mode == .add, !stored.isEmpty { throw failure(.itemAlreadyExists) }
    if mode == .update, stored.isEmpty { throw failure(.itemNotFound) }
    try await removeReplaced(incomplete)
    guard let valid = stored.first else { return try await create(item, mode) }
    // Above those, too, in case that one stays.
    let revision = ([valid] + incomplete).map(\.revision).max() ?? 0
    guard try await replace(valid, by: item, revision + 1) else {
      // The item vanished before it was replaced. KWallet 5.103 says so, too, when it has computed
      // another key for the session; a new session will do.
      if !vanished.insert(valid.path).inserted { throw unusableSession() }
      return false
    }
    try await removeReplaced(superseded(stored))
    return true
  }

  /// Removes what a new item has replaced; if the user declines that, the next save removes it.
  private func removeReplaced(_ items: [StoredItem]) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await remove(items.map(\.path))
    } catch {
      guard [.locked, .userCanceled].contains(error.code) else { throw error }
    }
  }

  /// Finds the items stored under a key, and separates those whose secret never arrived.
  ///
  /// Several items of other programs are too many to replace one, and enough to refuse an addition.
  private func storedItems(
    toBeReplacedBy key: ItemKey, _ mode: SaveMode
  ) async throws(SecureStorageError) -> (stored: [StoredItem], incomplete: [StoredItem]) {
    let stored: [StoredItem]
    do throws(SecureStorageError) {
      stored = try await storedItems(for: key)
    } catch {
      throw mode == .add && error.code == .ambiguous ? failure(.itemAlreadyExists) : error
    }
    let own = stored.filter(\.isOwn)
    // A single item is replaced whatever its secret is, so the secret isn't fetched.
    guard own.count > (mode == .addOrReplace ? 1 : 0) else { return (stored, []) }
    let request = ItemRequest(own.map(\.path), .secret, in: session)
    let incomplete = try await contents(of: request).incomplete
    if incomplete.isEmpty { return (stored, []) }
    return (
      try await storedItems(for: key, ignoring: incomplete),
      own.filter { incomplete.contains($0.path) }
    )
  }

  /// Throws where the provider has attributes of its own by a name that the item gives one.
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

  /// Creates an item; `false` when an addition has met another one, and was taken back.
  private func create(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) -> Bool {
    let secret = try storage.secretOfNewItem(item)
    let attributes = item.key.newAttributes.merging(item.attributes ?? [:]) { $1 }
      .marking(secret)
    let label = item.label ?? item.key.defaultLabel
    // `CreateItem` replaces no item with other attributes, so one that another process creates at this
    // moment would stay beside this one.
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
    note(created.path, of: item.key)
    return true
  }

  /// Tells whether an addition was the first of several at once: the provider has no "create if absent".
  private func isFirst(
    _ path: ObjectPath, under key: ItemKey
  ) async throws(SecureStorageError) -> Bool {
    let own = try await storedItems(for: key).filter(\.isOwn)
    // Another program has removed it since, which doesn't undo the addition.
    if own.isEmpty { return true }
    // Where paths don't tell the order of two items of the same second, none is the first.
    return own.first?.path == path && (own.count == 1 || provider.keepsItemPaths)
  }

  /// Removes what another process, saving under the same key at the same time, has made beside.
  ///
  /// Everybody who saves orders the items in the same way and removes all but the valid one, so that
  /// exactly one is left, whoever comes last.
  private func removeSuperseded(_ key: ItemKey) async throws(SecureStorageError) {
    try await removeReplaced(superseded(storedItems(for: key)))
  }

  /// Returns the items that the first one has replaced, and that are not needed any more.
  ///
  /// A provider that writes secrets late would lose the valid one if it died now. Until the next save
  /// its newest predecessor that is certainly on disk stays. An item of the same revision is none: it
  /// was made at the same moment, and would be valid once the valid one had changed.
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

  // MARK: Items that are there

  /// Replaces an item; `false` when it vanished before that.
  ///
  /// Whoever removes it once its secret was written comes after, and leaves the writer a success: an
  /// update that said "not found" would deny a value that readers have seen.
  ///
  /// - Parameters:
  ///   - stored: The item.
  ///   - item: What to store in its stead.
  ///   - revision: The revision of an item that takes its place.
  /// - Returns: `false` if the item had vanished.
  /// - Throws: `SecureStorageError` if the item can't be replaced.
  private func replace(
    _ stored: StoredItem, by item: SecureItem, _ revision: Int
  ) async throws(SecureStorageError) -> Bool {
    let attributes = stored.attributes.merging(item.attributes ?? [:]) { $1 }
    guard let secret = item.secret else {
      return try await changeMetadata(of: stored, attributes, item.label)
    }
    if !attributes.isExactly(stored.attributes) {
      var attributes = attributes
      attributes[AttributeName.revision] = String(revision)
      try await supersede(stored, by: item, attributes, secret)
      return true
    }
    if stored.isOwn, let label = item.label, !label.isExactly(stored.label) {
      guard try await mark(stored, for: secret) else { return false }
      // The one message that changes both at once.
      let path = try await createItem(
        in: stored.path.collection, attributes: attributes.marking(secret, isThere: true),
        label: label, secret: secret
      ).path
      if path != stored.path {
        try await removeSuperseded(item.key)
        return true
      }
      // KWallet 5.103 keeps the label of what it replaces. Any other is left alone: gnome-keyring
      // 42.1 crashes when a label is set while other programs replace and remove the item.
      let answer = try await send(.label(ofItem: path))?.child(0).child(0)
      guard let answer, answer.isOfType("s"), answer.text.isExactly(stored.label) else {
        return true
      }
      _ = try await changeMetadata(of: stored, attributes, item.label)
      return true
    }
    // In place, so that another program finds its item as it left it, and because KeePassXC 2.7.4
    // asks the user about every replacement.
    guard try await write(secret, to: stored) else { return false }
    _ = try await changeMetadata(of: stored, attributes, item.label)
    if stored.isOwn { note(stored.path, of: item.key) }
    return true
  }

  /// Replaces the secret of an item.
  private func write(
    _ secret: Secret, to stored: StoredItem
  ) async throws(SecureStorageError) -> Bool {
    guard try await mark(stored, for: secret) else { return false }
    return try await write([.setSecret(try encode(secret), of: stored.path)])
  }

  /// Marks an item of ours before its secret becomes empty: an empty secret without the mark is taken for
  /// one that never arrived.
  private func mark(
    _ stored: StoredItem, for secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    let attributes = stored.attributes.marking(secret, isThere: true)
    if !stored.isOwn || attributes.isExactly(stored.attributes) { return true }
    return try await write([.setAttributes(attributes, of: stored.path)])
  }

  /// Replaces an item by one with other attributes, never having none or a mixture of both.
  private func supersede(
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
    note(created.path, of: item.key)
  }

  /// Changes label and attributes where they differ; `false` when the item vanished.
  private func changeMetadata(
    of stored: StoredItem, _ attributes: [String: String], _ label: String?
  ) async throws(SecureStorageError) -> Bool {
    var messages: [Message] = []
    if !attributes.isExactly(stored.attributes) {
      messages.append(.setAttributes(attributes, of: stored.path))
    }
    if let label, !label.isExactly(stored.label) {
      messages.append(.setLabel(label, of: stored.path))
    }
    return try await write(messages)
  }

  // MARK: Messages that write

  /// An item that was created.
  private struct CreatedItem {
    let path: ObjectPath
    /// Our other items with the same key; `nil` if they aren't known.
    var beside: [ObjectPath]?

    var isAlone: Bool { beside?.isEmpty == true }
  }

  /// Creates an item whose attributes no other has.
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
      // KWallet 5.103 has made an item all the same, without the secret, which it could not decrypt.
      let made = try await storedItems(with: attributes.filter { $0.key != AttributeName.schema })
        .items
        .filter { $0.attributes.isExactly(attributes) }
      try await remove(made.map(\.path))
      hasWritten = false
      throw error
    }
  }

  /// Creates an item.
  ///
  /// - Parameters:
  ///   - key: The key under which to search for our other items, side by side with that; `nil` for none.
  ///   - collection: Where to create it.
  ///   - attributes: Its attributes.
  ///   - label: Its label.
  ///   - secret: Its secret.
  ///   - replacing: Whether it takes the place of an item with the same attributes.
  /// - Returns: The item, and what the search has found.
  /// - Throws: `SecureStorageError` if the item can't be created.
  private func createItem(
    besides key: ItemKey? = nil, in collection: ObjectPath, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true
  ) async throws(SecureStorageError) -> CreatedItem {
    let secret = try encode(secret)
    func send(to collection: ObjectPath) async throws(SecureStorageError) -> [Variant?] {
      hasWritten = true
      let creation = Message.createItem(
        in: collection, attributes: attributes, label: label, secret: secret, replacing: replacing)
      let search = key.map { Message.searchItems(in: collection, $0.ownAttributes) }
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
      // A search that doesn't find what was created just before says nothing about others.
      let found = answers.dropFirst().first??.child(0).paths
      let beside = found?.contains(path) == true ? found?.filter { $0 != path } : nil
      return CreatedItem(path: path, beside: beside)
    }
    let result = try await self.answer(to: ObjectPath(answer.child(1).text))
    guard result.isOfType("o") else { throw unexpectedAnswer("no item") }
    return CreatedItem(path: ObjectPath(result.text))
  }

  /// Sends messages that change an item; `false` when it does not exist any more.
  private func write(_ messages: [Message]) async throws(SecureStorageError) -> Bool {
    if messages.isEmpty { return true }
    hasWritten = true
    let collection = messages[0].object.collection
    let questions =
      provider.refusesWritesWhileLocked ? [] : [Message.isLocked(collection)]
    func announce() async {
      // Of several, one changes the label, and the provider tells of that.
      if messages.count == 1 { await session.announce(messages[0]) }
    }
    // What was never sent is not announced.
    try checkDeadline()
    var answers: ArraySlice<Variant?>
    do throws(SecureStorageError) {
      answers = try await send(questions + messages + questions)[...]
    } catch {
      // What nobody has waited for may be done all the same.
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
    throw failure(.backend, "The secret could not be encrypted.")
  }
}

extension [String: String] {
  /// The attributes of an item with a secret: an empty one is marked, so that it isn't taken for one
  /// that never arrived.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - isThere: Whether an item has the attributes already; it keeps its mark.
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
