// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringFoundation
internal import KeyringStorage

extension Operation {
  /// An item that was created.
  struct CreatedItem {
    let path: ObjectPath
    /// The other items of this package with the same key, or `nil` if they aren't known.
    var beside: [ObjectPath]?

    var isAlone: Bool { beside?.isEmpty == true }
  }

  /// Creates an item with attributes that no other item has.
  func createAnotherItem(
    besides key: ItemKey?, in collection: ObjectPath? = nil, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true, after change: MethodCall? = nil
  ) async throws(SecureStorageError) -> CreatedItem {
    let attributes = attributes.merging(newUniqueAttribute) { $1 }
    let start = UInt64(Date().timeIntervalSince1970)
    do throws(SecureStorageError) {
      let collection = if let collection { collection } else { try await existingCollection() }
      return try await createItem(
        besides: key, in: collection, attributes: attributes, label: label, secret: secret,
        replacing: replacing, after: change)
    } catch {
      guard sessionIsUnusable else { throw error }
      // The provider may have created an item anyway, without the secret, which it couldn't decrypt.
      let marked = attributes.merging([AttributeName.binaryForm: "yes"]) { $1 }
      for attributes in [attributes, marked] {
        // An older item with the same attributes is another one. Not every provider keeps the time.
        let items = try await exactItems(withOnly: attributes)
        try await remove(items.filter { $0.created == 0 || $0.created >= start })
      }
      hasWritten = false
      throw error
    }
  }

  /// The attribute that sets a new item apart from all others, if the provider might mix it up with another one.
  private var newUniqueAttribute: [String: String] {
    provider.changesOneItem
      ? [:] : [AttributeName.unique: String(UInt64.random(in: 0...UInt64.max), radix: 36)]
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
  ///   - change: A change to another item, which the provider makes before it creates this one.
  /// - Returns: The item, and the result of the search.
  /// - Throws: `SecureStorageError` if the item can't be created.
  func createItem(
    besides key: ItemKey? = nil, in collection: ObjectPath, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true, after change: MethodCall? = nil
  ) async throws(SecureStorageError) -> CreatedItem {
    func send(to collection: ObjectPath) async throws(SecureStorageError) -> [Variant?] {
      let secret = try await storable(secret, in: collection)
      let creation = MethodCall.createItem(
        in: collection, attributes: attributes.markingBinaryForm(of: secret),
        label: provider.numbered(label), secret: try encode(secret), replacing: replacing)
      hasWritten = true
      let search = key.map { MethodCall.searchItems(in: collection, $0.ownAttributes) }
      let answers = try await self.send([change, creation, search].compactMap(\.self))
      return Array(answers.dropFirst(change == nil ? 0 : 1))
    }
    var answers = try await send(to: collection)
    if answers[0] == nil {
      try expectNoCollection()
      answers = try await send(to: newDefaultCollection())
    }
    guard let answer = answers[0] else { throw noCollection() }
    return try await createdItem(answer, answers.dropFirst().first ?? nil)
  }

  /// Returns the item that was created, from the answer to its creation and from that to the concurrent search.
  private func createdItem(
    _ answer: Variant, _ search: Variant?
  ) async throws(SecureStorageError) -> CreatedItem {
    let path = try await created(answer, "item")
    // A search that doesn't find the item that was just created says nothing about others. Neither does a
    // search before a prompt.
    guard path.text == answer.child(0).text, let found = search?.child(0).paths,
      found.contains(path)
    else { return CreatedItem(path: path) }
    return CreatedItem(path: path, beside: found.filter { $0 != path })
  }

  /// Sends messages that change an item, and returns `false` if the item no longer exists.
  func write(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool {
    if messages.isEmpty { return true }
    hasWritten = true
    // A message that was never sent isn't announced.
    try checkDeadline()
    // One of several messages changes the label, and the provider signals that change.
    let change = messages.count == 1 ? messages[0].silentChange : nil
    func announce(_ step: Provider.SilentChange.Step) async {
      guard let change, change == provider.silentChange else { return }
      await session.connection.announce(change, step, of: messages[0].object)
    }
    await announce(.changing)
    let isThere: Bool?
    do throws(SecureStorageError) {
      isThere = try await writeOnce(messages)
    } catch {
      // The change may take place even if the wait for it was given up.
      let isOpen = [.timedOut, .canceled, .connectionLost].contains(error.code)
      await announce(isOpen ? .set : .kept)
      throw error
    }
    await announce(isThere == true ? .set : .kept)
    if let isThere { return isThere }
    try await unlock([messages[0].object.collection])
    return try await write(messages)
  }

  /// Sends messages that change an item, and returns `nil` if the item may have been locked.
  private func writeOnce(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool? {
    let questions =
      provider.refusesWritesWhileLocked
      ? [] : [MethodCall.isLocked(messages[0].object.collection)]
    var answers = try await send(questions + messages + questions)[...]
    let states = answers.prefix(questions.count) + answers.suffix(questions.count)
    answers = answers.dropFirst(questions.count).dropLast(questions.count)
    guard answers.allSatisfy({ $0 != nil }) else { return false }
    for case let state? in states where try isLocked(state) { return nil }
    return true
  }

  /// Deletes items, and ignores those that are already gone.
  func delete(_ items: [ObjectPath]) async throws(SecureStorageError) {
    if items.isEmpty { return }
    hasWritten = true
    for case let answer? in try await send(items.map { .delete($0) }) {
      try await finish(answer.child(0))
    }
  }

  func encode(_ secret: Secret) throws(SecureStorageError) -> Variant {
    if let encoded = session.encode(secret) { return encoded }
    throw failure(
      .other, "The secret can't be encrypted for the keyring.",
      recoverySuggestion: "Restart the keyring. If that doesn't help, use another one.")
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
  func marking(_ secret: Secret, isThere: Bool = false) -> [String: String] {
    var attributes = self
    if secret.count == 0 {
      attributes[AttributeName.emptySecret] = "yes"
    } else if !isThere {
      attributes[AttributeName.emptySecret] = nil
      attributes[AttributeName.binaryForm] = nil
    }
    return attributes
  }

  /// Returns the attributes with which another program's item becomes this package's.
  ///
  /// The item may have an empty secret.
  func adopted(as key: ItemKey) -> [String: String] {
    merging(key.ownAttributes) { $1 }.merging([AttributeName.emptySecret: "yes"]) { $1 }
  }

  /// Returns the attributes for an item with the bytes of a secret that a collection keeps.
  func markingBinaryForm(of secret: Secret) -> [String: String] {
    secret.isInBinaryForm ? merging([AttributeName.binaryForm: "yes"]) { $1 } : self
  }
}

// MARK: - Replacing

extension Operation {
  /// The result of a replacement.
  enum Replacement {
    case done
    /// The item is no longer the valid one. Items that the valid one supersedes were removed if possible.
    case elsewhere
    /// The item had vanished before it was replaced.
    case vanished
  }

  /// Replaces an item.
  ///
  /// If the item is removed after its secret was written, the save still succeeds. An update that reported
  /// "not found" would deny a value that readers have seen.
  ///
  /// - Parameters:
  ///   - stored: The item to replace.
  ///   - item: The item to store in its place.
  ///   - revision: The revision of the new item, if one is created.
  ///   - onDisk: The revision below which all items are known to be on disk.
  ///   - attempt: The number of times that the provider has replaced another item instead. After some of
  ///     them, the secret and the label change one after the other.
  /// - Returns: The result.
  /// - Throws: `SecureStorageError` if the item can't be replaced.
  func replace(
    _ stored: StoredItem, by item: SecureItem, _ revision: Int, onDisk: Int, attempt: Int = 0
  ) async throws(SecureStorageError) -> Replacement {
    let extra = item.attributes ?? [:]
    let attributes = extra.isEmpty ? stored.attributes : stored.attributes.merging(extra) { $1 }
    let changesAttributes = !extra.isEmpty && !attributes.hasSameBytes(stored.attributes)
    let changesLabel = item.label?.hasSameBytes(stored.label) == false
    // Otherwise the item could lose its secret, or the change.
    let needsNewItem =
      provider.storesChanges
      ? provider.delaysSecrets && changesLabel
      : item.secret != nil || changesAttributes || changesLabel
    var secret = item.secret
    if secret == nil, needsNewItem {
      let request = ItemFetch([stored.path], .secret, in: session)
      secret = try await contents(of: request).secrets[stored.path]
      if secret == nil { return .vanished }
    }
    guard let secret else {
      return try await changeMetadata(of: stored, as: item.key, attributes, item.label)
        ? .done : .vanished
    }
    if changesAttributes, stored.hasFurtherSecrets {
      // A new item would lose them.
      if item.key.kind == .credentials,
        attributes[AttributeName.username] != stored.attributes[AttributeName.username]
      {
        throw failure(
          .other,
          "The item \"\(stored.label.excerpt)\" also has one-time codes or a passkey, which a new login would lose.",
          recoverySuggestion: "Change the login in \(provider.keyringName).")
      }
      guard try await changeMetadata(of: stored, as: item.key, attributes, nil) else {
        return .vanished
      }
    } else if needsNewItem || changesAttributes {
      if !stored.isOwn {
        _ = try await storable(secret, in: stored.path.collection, replacingThatOf: stored)
      }
      if !provider.storesChanges, !stored.isOwn, !changesAttributes,
        try await recreate(stored, changesLabel ? item.label : nil, secret)
      {
        return .done
      }
      var attributes = attributes
      attributes[AttributeName.revision] = String(revision)
      try await replaceWithNewAttributes(stored, by: item, attributes, secret, onDisk: onDisk)
      return .done
    }
    if stored.isOwn, attempt < 3, let label = item.label, !label.hasSameBytes(stored.label) {
      let storable = try await storable(secret, in: stored.path.collection)
      guard try await mark(stored, for: storable) else { return .vanished }
      // This is the only message that changes both at once.
      let path = try await createItem(
        in: stored.path.collection, attributes: attributes.marking(secret, isThere: true),
        label: label, secret: secret
      ).path
      if path != stored.path {
        let now = try await storedItems(for: item.key)
        try await removeIfPossible(superseded(now))
        guard let valid = now.first, valid.path == stored.path else { return .elsewhere }
        // The provider chose another item with the same attributes, or another program has changed the
        // attributes of the valid one.
        return try await replace(
          valid, by: item, revision, onDisk: onDisk, attempt: attempt + 1)
      }
      return .done
    }
    // Change the item in place, so that another program finds its item as it left it. Also, some providers
    // ask the user about every replacement.
    let storable = try await storable(
      secret, in: stored.path.collection, replacingThatOf: stored.isOwn ? nil : stored)
    guard try await mark(stored, for: storable),
      try await write([.setSecret(try encode(storable), of: stored.path)])
    else { return .vanished }
    if changesLabel, let label = item.label {
      _ = try await write([.setLabel(label, of: stored.path)])
    }
    if stored.isOwn { record(stored.path, of: item.key) }
    return .done
  }

  /// Replaces another program's item with a new one that has exactly the same attributes.
  ///
  /// - Parameters:
  ///   - stored: The item.
  ///   - label: The new label, or `nil` if it stays the same.
  ///   - secret: The secret.
  /// - Returns: `false` if the provider might replace another item instead, or hasn't replaced this one.
  /// - Throws: `SecureStorageError` if the item can't be replaced.
  private func recreate(
    _ stored: StoredItem, _ label: String?, _ secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    let collection = stored.path.collection
    let search = MethodCall.searchItems(in: collection, stored.attributes)
    guard itemPaths(in: try await send(search)) == [stored.path] else { return false }
    let path = try await createItem(
      in: collection, attributes: stored.attributes, label: label ?? stored.label, secret: secret
    ).path
    if path != stored.path {
      // The provider may count the type of the secret as one of the attributes.
      try await removeIfPossible([stored])
      guard itemPaths(in: try await send(search)) == [path] else { return false }
    }
    guard let label else { return true }
    let created = try await contents(of: ItemFetch([path], .metadata, in: session))
    return created.stored(at: path)?.label.hasSameBytes(label) == true
  }

  /// Marks an item of this package before its secret becomes empty or takes its binary form.
  ///
  /// Without the mark, an empty secret counts as one that never arrived.
  private func mark(
    _ stored: StoredItem, for secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    if secret.count > 0, !secret.isInBinaryForm { return true }
    let attributes = stored.attributes.marking(secret, isThere: true)
      .markingBinaryForm(of: secret)
    if !stored.isOwn || attributes.hasSameBytes(stored.attributes) { return true }
    return try await write([.setAttributes(attributes, of: stored.path)])
  }

  /// Replaces an item with one that has other attributes.
  ///
  /// At every moment there is a complete item, and never a mixture of both. If secrets are written late, the
  /// replaced item stays. Another program's item becomes this package's then, so that it counts as the
  /// predecessor of the new one. If it can't become this package's, the new item has a mark.
  private func replaceWithNewAttributes(
    _ stored: StoredItem, by item: SecureItem, _ attributes: [String: String], _ secret: Secret,
    onDisk: Int
  ) async throws(SecureStorageError) {
    var attributes = attributes.merging(item.key.ownAttributes) { $1 }.marking(secret)
    try refuseUnusable(attributes, of: item.key)
    if stored.firstStored > 0 {
      attributes[AttributeName.firstStored] = String(stored.firstStored)
    }
    let keepsReplaced = provider.delaysSecrets
    let adopts = keepsReplaced && !stored.isOwn
    if adopts, !provider.storesChanges { attributes[AttributeName.successor] = "yes" }
    let adoption =
      adopts && provider.storesChanges
      ? MethodCall.setAttributes(stored.attributes.adopted(as: item.key), of: stored.path) : nil
    let created = try await createAnotherItem(
      besides: item.key, in: stored.path.collection, attributes: attributes,
      label: item.label ?? stored.label, secret: secret, after: adoption)
    // If the user declines the first removal, the second one doesn't ask again.
    try await cleaningUp { () async throws(SecureStorageError) in
      if !keepsReplaced, created.path != stored.path { try await remove([stored]) }
      if created.beside.map({ Set($0).isSubset(of: [stored.path]) }) != true {
        try await removeSuperseded(item.key, onDisk: onDisk)
      }
    }
    record(created.path, of: item.key)
  }

  /// Changes the label and the attributes if they differ, and returns `false` if the item vanished.
  ///
  /// With other attributes, an item of another program would be another item, unless it becomes this package's.
  private func changeMetadata(
    of stored: StoredItem, as key: ItemKey, _ attributes: [String: String], _ label: String?
  ) async throws(SecureStorageError) -> Bool {
    var messages: [MethodCall] = []
    if !attributes.hasSameBytes(stored.attributes) {
      let attributes = stored.isOwn ? attributes : attributes.adopted(as: key)
      messages.append(.setAttributes(attributes, of: stored.path))
    }
    if let label, !label.hasSameBytes(stored.label) {
      messages.append(.setLabel(label, of: stored.path))
    }
    return try await write(messages)
  }
}
#endif
