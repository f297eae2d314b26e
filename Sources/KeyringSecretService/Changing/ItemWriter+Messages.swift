// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringStorage

extension ItemWriter {
  /// An item that was created.
  struct CreatedItem {
    let path: ObjectPath
    /// The other items of this package with the same key, or `nil` for unknown ones.
    var beside: [ObjectPath]?

    var isAlone: Bool { beside?.isEmpty == true }
  }

  /// Creates an item with attributes that no other item has.
  // Not inlined: the steps of a save would contain it several times.
  @inline(never)
  func createAnotherItem(
    besides key: ItemKey?, in collection: ObjectPath? = nil, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true, after change: MethodCall? = nil
  ) async throws(SecureStorageError) -> CreatedItem {
    let attributes = attributes.setting(newUniqueAttribute)
    let start = UInt64(Date().timeIntervalSince1970)
    do throws(SecureStorageError) {
      let collection = if let collection { collection } else { try await call.existingCollection() }
      return try await createItem(
        besides: key, in: collection, attributes: attributes, label: label, secret: secret,
        replacing: replacing, after: change)
    } catch {
      guard call.sessionIsUnusable else { throw error }
      // The provider may have created an item anyway, without the secret, which it couldn't decrypt.
      let marked = attributes.setting([AttributeName.binaryForm: "yes"])
      for attributes in [attributes, marked] {
        // An older item with the same attributes is another one. Not every provider keeps the time.
        let items = try await finder.exactItems(withOnly: attributes)
        try await remove(items.filter { $0.created == 0 || $0.created >= start })
      }
      call.hasWritten = false
      throw error
    }
  }

  /// The attribute that sets a new item apart from all others, if the provider might mix it up with another one.
  private var newUniqueAttribute: [String: String] {
    call.provider.changesOneItem
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
  ///   - replacing: `true` to replace an item with the same attributes.
  ///   - change: A change to another item, which the provider makes before it creates this one.
  /// - Returns: The item, and the result of the search.
  /// - Throws: The reason why the item can't be created.
  func createItem(
    besides key: ItemKey? = nil, in collection: ObjectPath, attributes: [String: String],
    label: String, secret: Secret, replacing: Bool = true, after change: MethodCall? = nil
  ) async throws(SecureStorageError) -> CreatedItem {
    // Not inlined: the steps of a save would contain it several times.
    @inline(never)
    func create(in collection: ObjectPath) async throws(SecureStorageError) -> [Variant?] {
      let secret = try await storable(secret, in: collection)
      let creation = MethodCall.createItem(
        in: collection, attributes: attributes.markingBinaryForm(of: secret),
        label: call.provider.numbered(label), secret: try call.encode(secret), replacing: replacing)
      call.hasWritten = true
      let search = key.map { MethodCall.searchItems(in: collection, $0.ownAttributes) }
      let answers = try await call.send([change, creation, search].compactMap(\.self))
      return Array(answers.dropFirst(change == nil ? 0 : 1))
    }
    var answers = try await create(in: collection)
    if answers[0] == nil {
      try call.expectNoCollection()
      answers = try await create(in: call.newDefaultCollection())
    }
    guard let answer = answers[0] else { throw call.noCollection() }
    return try await createdItem(answer, answers.dropFirst().first ?? nil)
  }

  /// Returns the item that was created, from the answer to its creation and from that to the concurrent search.
  private func createdItem(
    _ answer: Variant, _ search: Variant?
  ) async throws(SecureStorageError) -> CreatedItem {
    let path = try await call.created(answer, "item")
    // A search that doesn't find the item that was just created says nothing about others. Neither does a
    // search before a prompt.
    guard path.text == answer.child(0).text, let found = search?.child(0).paths,
      found.contains(path)
    else { return CreatedItem(path: path) }
    return CreatedItem(path: path, beside: found.filter { $0 != path })
  }

  /// Sends messages that change an item, and returns `false` for one that has vanished.
  func write(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool {
    if messages.isEmpty { return true }
    call.hasWritten = true
    // A message that was never sent isn't announced.
    try call.checkDeadline()
    // One of several messages changes the label, and the provider signals that change.
    let change = messages.count == 1 ? messages[0].silentChange : nil
    func announce(_ step: Provider.SilentChange.Step) async {
      guard let change, change == call.provider.silentChange else { return }
      await call.session.connection.announce(change, step, of: messages[0].object)
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
    try await call.unlock([messages[0].object.collection])
    return try await write(messages)
  }

  /// Sends messages that change an item, and returns `nil` if the item may have been locked.
  private func writeOnce(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool? {
    let questions =
      call.provider.refusesWritesWhileLocked
      ? [] : [MethodCall.isLocked(messages[0].object.collection)]
    var answers = try await call.send(questions + messages + questions)[...]
    let states = answers.prefix(questions.count) + answers.suffix(questions.count)
    answers = answers.dropFirst(questions.count).dropLast(questions.count)
    guard answers.allSatisfy({ $0 != nil }) else { return false }
    for case let state? in states where try call.isLocked(state) { return nil }
    return true
  }

  /// Throws an error if an item can't have these attributes.
  ///
  /// The provider reserves some attributes for itself, and others make it create an item with another secret.
  func refuseUnusable(
    _ attributes: [String: String], of key: ItemKey
  ) throws(SecureStorageError) {
    func refuse(_ name: String, _ message: String) -> SecureStorageError {
      call.failure(
        .invalidArgument, message, argument: key.attributes[name] == nil ? "attributes" : "key")
    }
    if let name = attributes.keys.filter(call.provider.reserves).min() {
      throw refuse(name, "The keyring reserves the attribute \"\(name)\".")
    }
    if let (name, _) = call.provider.attributesChangingSecrets.first(where: { attributes[$0] == $1 }
    ) {
      throw refuse(
        name,
        "The keyring would change the secret of an item with this value of the attribute \"\(name)\"."
      )
    }
  }
}

extension [String: String] {
  /// Returns the attributes for an item with a secret.
  ///
  /// An empty secret is marked, which tells it from one that never arrived.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - isThere: `true` for the attributes of an item that is there, which keeps its mark.
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
    setting(key.ownAttributes).setting([AttributeName.emptySecret: "yes"])
  }

  /// Returns the attributes for an item with the bytes of a secret that a collection keeps.
  func markingBinaryForm(of secret: Secret) -> [String: String] {
    secret.isInBinaryForm ? setting([AttributeName.binaryForm: "yes"]) : self
  }
}
#endif
