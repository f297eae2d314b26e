#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Stores an item.
  ///
  /// The secret of an item changes in one message, so that at every moment the old item or the new
  /// one is there. When attributes change with it (a credential's login), the new item is created
  /// before the old one is deleted, and carries a higher revision: whoever meets both takes it.
  func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    if mode == .addOrReplace, try replaceWritten(by: item) { return }
    session.itemPlaces.noteWritten(false, item.key, in: options.collection)
    var vanished: Set<ObjectPath> = []
    while true {
      let stored = try storedItems(toBeReplacedBy: item.key, mode)
      guard let valid = stored.first else {
        if mode == .update { throw failure(.itemNotFound) }
        return try create(item)
      }
      if mode == .add { throw failure(.itemAlreadyExists) }
      if try replace(valid, by: item) {
        return try remove(stored.dropFirst().map(\.path))
      }
      // The item vanished before it was replaced. KWallet 5.103 says so, too, when it has computed
      // another key for the session; a new session will do.
      if !vanished.insert(valid.path).inserted { throw failure(.connectionLost) }
      try checkDeadline()
    }
  }

  /// Several items of other programs are too many to replace one, and enough to refuse an addition.
  private func storedItems(
    toBeReplacedBy key: ItemKey, _ mode: SaveMode
  ) throws(SecureStorageError) -> [StoredItem] {
    do throws(SecureStorageError) {
      return try storedItems(for: key)
    } catch {
      throw mode == .add && error.code == .ambiguous ? failure(.itemAlreadyExists) : error
    }
  }

  // MARK: New items

  private func create(_ item: SecureItem) throws(SecureStorageError) {
    let secret = try storage.secretOfNewItem(item)
    let attributes = item.key.newAttributes.merging(item.attributes ?? [:]) { $1 }
    let label = item.label ?? item.key.defaultLabel
    let path = try createAnotherItem(attributes: attributes, label: label, secret: secret)
    // Without attributes of its own another process's item was replaced, not joined.
    if item.attributes?.isEmpty == false { return try removeOlder(item.key) }
    noteWritten(item.key, at: path)
  }

  /// Removes what another process, saving under the same key at the same time, has made older.
  ///
  /// Everybody who saves orders the items in the same way and removes all but the newest, so that
  /// exactly one is left, whoever comes last.
  private func removeOlder(_ key: ItemKey) throws(SecureStorageError) {
    try remove(storedItems(for: key).dropFirst().map(\.path))
  }

  // MARK: Items that are there

  /// Replaces an item; `false` when it vanished before that.
  ///
  /// Whoever removes it once its secret was written comes after, and leaves the writer a success: an
  /// update that said "not found" would deny a value that readers have seen.
  private func replace(
    _ stored: StoredItem, by item: SecureItem
  ) throws(SecureStorageError) -> Bool {
    let attributes = stored.attributes.merging(item.attributes ?? [:]) { $1 }
    guard let secret = item.secret else {
      return try changeMetadata(of: stored, attributes, item.label)
    }
    if !attributes.isExactly(stored.attributes) {
      try supersede(stored, by: item, attributes, secret)
      return true
    }
    if stored.isOwn, let label = item.label, !label.isExactly(stored.label) {
      // The one message that changes both at once.
      let path = try createItem(attributes: attributes, label: label, secret: secret)
      if path != stored.path {
        try removeOlder(item.key)
        return true
      }
      // KWallet 5.103 keeps the label of what it replaces. Any other is left alone: gnome-keyring
      // 42.1 crashes when a label is set while other programs replace and remove the item.
      let answer = try send(.label(ofItem: path))?.child(0).child(0)
      guard let answer, answer.isOfType("s"), answer.text.isExactly(stored.label) else {
        return true
      }
      _ = try changeMetadata(of: stored, attributes, item.label)
      return true
    }
    // In place, so that another program finds its item as it left it, and because KeePassXC 2.7.4
    // asks the user about every replacement.
    guard try write([.setSecret(try encode(secret), of: stored.path)]) else { return false }
    _ = try changeMetadata(of: stored, attributes, item.label)
    if stored.isOwn { noteWritten(item.key, at: stored.path) }
    return true
  }

  /// Replaces an item by one with other attributes, never having none or a mixture of both.
  private func supersede(
    _ stored: StoredItem, by item: SecureItem, _ attributes: [String: String], _ secret: Secret
  ) throws(SecureStorageError) {
    var attributes = attributes.merging(item.key.ownAttributes) { $1 }
    attributes[AttributeName.revision] = String(stored.revision + 1)
    let path = try createAnotherItem(
      attributes: attributes, label: item.label ?? stored.label, secret: secret)
    if path != stored.path { try remove([stored.path]) }
    try removeOlder(item.key)
  }

  /// Changes label and attributes where they differ; `false` when the item vanished.
  private func changeMetadata(
    of stored: StoredItem, _ attributes: [String: String], _ label: String?
  ) throws(SecureStorageError) -> Bool {
    var messages: [Message] = []
    if !attributes.isExactly(stored.attributes) {
      messages.append(.setAttributes(attributes, of: stored.path))
    }
    if let label, !label.isExactly(stored.label) {
      messages.append(.setLabel(label, of: stored.path))
    }
    return try write(messages)
  }

  // MARK: Messages that write

  /// Creates an item whose attributes no other has.
  @discardableResult
  private func createAnotherItem(
    attributes: [String: String], label: String, secret: Secret
  ) throws(SecureStorageError) -> ObjectPath {
    do throws(SecureStorageError) {
      return try createItem(attributes: attributes, label: label, secret: secret)
    } catch {
      guard error.underlying?.domain == BusFailure.noSessionOfKWallet else { throw error }
      // It has made an item all the same, without the secret, which it could not decrypt.
      let made = try storedItems(with: attributes.filter { $0.key != AttributeName.schema })
        .filter { $0.attributes.isExactly(attributes) }
      try remove(made.map(\.path))
      hasWritten = false
      throw error
    }
  }

  private func createItem(
    attributes: [String: String], label: String, secret: Secret
  ) throws(SecureStorageError) -> ObjectPath {
    let secret = try encode(secret)
    func send(to collection: ObjectPath) throws(SecureStorageError) -> Variant? {
      hasWritten = true
      return try sendUnlocking(
        .createItem(in: collection, attributes: attributes, label: label, secret: secret))
    }
    var answer = try send(to: existingCollection())
    if answer == nil { answer = try send(to: newDefaultCollection()) }
    guard let answer else { throw noCollection() }
    let path = ObjectPath(answer.child(0).text)
    guard path.isNone else { return path }
    let result = try self.answer(to: ObjectPath(answer.child(1).text))
    guard result.isOfType("o") else { throw unexpectedAnswer("no item") }
    return ObjectPath(result.text)
  }

  private func sendUnlocking(_ message: Message) throws(SecureStorageError) -> Variant? {
    do throws(SecureStorageError) {
      return try send(message)
    } catch {
      guard error.code == .locked else { throw error }
      try unlock([lockableCollection()])
      return try send(message)
    }
  }

  /// Sends messages that change an item; `false` when it does not exist any more.
  func write(_ messages: [Message]) throws(SecureStorageError) -> Bool {
    if messages.isEmpty { return true }
    hasWritten = true
    // KWallet 5.103 loses without a word what is written while it is locked.
    let questions = try isGnomeKeyring() ? [] : [Message.isLocked(try existingCollection())]
    func announce() {
      // Of several, one changes the label, and the provider tells of that.
      if messages.count == 1 { session.announce(messages[0]) }
    }
    // What was never sent is not announced.
    try checkDeadline()
    let answers: [Variant?]
    do throws(SecureStorageError) {
      answers = try send(messages + questions)
    } catch {
      // What nobody has waited for may be done all the same.
      if [.timedOut, .canceled, .connectionLost].contains(error.code) { announce() }
      throw error
    }
    guard answers.prefix(messages.count).allSatisfy({ $0 != nil }) else { return false }
    guard let state = answers.dropFirst(messages.count).first ?? nil, try isLocked(state) else {
      announce()
      return true
    }
    try unlock([lockableCollection()])
    return try write(messages)
  }

  func encode(_ secret: Secret) throws(SecureStorageError) -> Variant {
    if let encoded = session.encode(secret) { return encoded }
    throw failure(.backend, "The secret could not be encrypted.")
  }
}
#endif
