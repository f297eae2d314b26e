// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
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
  func createItem(
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
  func write(_ messages: [MethodCall]) async throws(SecureStorageError) -> Bool {
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

  func encode(_ secret: Secret) throws(SecureStorageError) -> Variant {
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
  func marking(_ secret: Secret, isThere: Bool = false) -> [String: String] {
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
