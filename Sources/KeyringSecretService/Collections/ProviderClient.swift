// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// A type that sends messages to the provider, for an operation or for an observer of a collection.
protocol ProviderClient {
  associatedtype Failure: Error

  var provider: Provider { get }

  /// Sends messages concurrently.
  ///
  /// - Parameter messages: The messages.
  /// - Returns: The answer to each message. It's `nil` if the message's object doesn't exist, or
  ///   if a closer look must show why there is no answer.
  /// - Throws: The failure of any of the messages.
  func send(_ messages: [MethodCall]) async throws(Failure) -> [Variant?]

  /// Returns the error for an answer of the right D-Bus type: the text says what it's with or without.
  func unexpectedAnswer(_ text: String) -> Failure
}

extension ProviderClient {
  /// Sends one message, and returns `nil` for a missing object.
  func send(_ message: MethodCall) async throws(Failure) -> Variant? {
    try await send([message])[0]
  }
}

// MARK: - Collections

extension ProviderClient {
  /// Returns the path of a storage's current collection.
  ///
  /// - Parameter collection: The collection.
  /// - Returns: The path, or `nil`. An alias may stand for a collection that no longer
  ///   exists.
  /// - Throws: The failure of a message.
  func path(
    of collection: SecretServiceStorage.Collection
  ) async throws(Failure) -> ObjectPath? {
    if isChosen(collection) { return try chosen(from: try await send(choiceQuestions)) }
    if let alias = collection.alias { return try await self.collection(aliased: alias) }
    guard case .named(let label) = collection else { return nil }
    return try await self.collection(labeled: label)
  }

  /// Lists all collections.
  func collections() async throws(Failure) -> [ObjectPath] {
    try collections(try await send(.collections()))
  }

  /// Reads the list of collections from the provider's answer.
  func collections(_ answer: Variant?) throws(Failure) -> [ObjectPath] {
    if let list = answer?.property(ofType: "ao") { return list.paths }
    throw unexpectedAnswer("without a list of collections")
  }

  /// Lists all collections with their labels, without those that vanish in the meantime.
  func labeledCollections() async throws(Failure) -> [(path: ObjectPath, label: String)] {
    let paths = try await collections()
    let labels = try await send(paths.map { .label(ofCollection: $0) })
    return zip(paths, labels).compactMap { path, answer in
      answer?.property(ofType: "s").map { (path: path, label: $0.text) }
    }
  }

  /// Finds the collection with a label.
  ///
  /// If the provider may have changed the capitals of the label, a collection with other capitals is found, too.
  func collection(labeled label: String) async throws(Failure) -> ObjectPath? {
    try await labeledCollections()
      .collection(labeled: label, inAnyCase: provider.mayNameFilesAfterLabels)?.path
  }

  /// Returns the collection that an alias stands for.
  func collection(aliased name: String) async throws(Failure) -> ObjectPath? {
    guard let answer = try await send(.readAlias(name)) else { return nil }
    let path = ObjectPath(answer.child(0).text)
    return path.isNone ? nil : path
  }

  /// Returns `true` for a locked collection, or `nil` for a missing one.
  func lockState(of collection: ObjectPath) async throws(Failure) -> Bool? {
    guard let answer = try await send(.isLocked(collection)) else { return nil }
    return try isLocked(answer)
  }

  /// Returns `true` for an answer of the provider that says "locked".
  func isLocked(_ answer: Variant) throws(Failure) -> Bool {
    if let isLocked = answer.property(ofType: "b") { return isLocked.bool }
    throw unexpectedAnswer("without the state of the lock")
  }
}

extension ProviderClient {
  /// Returns `true` for a collection that stands for one chosen of all.
  ///
  /// That's the case if the provider's default collection changes by itself.
  func isChosen(_ collection: SecretServiceStorage.Collection) -> Bool {
    collection == .default && !provider.keepsDefaultCollection
  }

  /// The messages whose answers show which collection is chosen.
  var choiceQuestions: [MethodCall] {
    [.collections()] + (provider.mayAliasSession ? [.readAlias("session")] : [])
  }

  /// Returns the chosen collection, or `nil`.
  ///
  /// - Parameter answers: The answers to ``choiceQuestions``, and maybe to other messages after them.
  /// - Returns: The collection.
  /// - Throws: The failure of answers that make no sense.
  func chosen(from answers: [Variant?]) throws(Failure) -> ObjectPath? {
    var listed = try collections(answers[0])
    if provider.mayAliasSession, let session = answers[1]?.child(0).text {
      listed.removeAll { $0.text == session }
    }
    return ObjectPath.chosen(from: listed)
  }
}

extension ObjectPath {
  /// Returns the collection that stands for a default collection that changes by itself.
  ///
  /// Every program chooses the same collection, at any time. A collection that ends with the user's session is
  /// left out, because its items would be lost.
  static func chosen(from collections: [ObjectPath]) -> ObjectPath? {
    collections.filter { !$0.text.hasSuffix("/collection/session") }.min { $0.text < $1.text }
  }
}

extension [(path: ObjectPath, label: String)] {
  /// Returns the collection with a label.
  ///
  /// - Parameters:
  ///   - label: The label.
  ///   - inAnyCase: Whether the only collection whose label has other capitals is returned, if none has the label
  ///     itself.
  /// - Returns: The collection, or `nil`.
  func collection(labeled label: String, inAnyCase: Bool) -> Element? {
    if let same = first(where: { $0.label.hasSameBytes(label) }) { return same }
    let similar = inAnyCase ? filter { $0.label.lowercased() == label.lowercased() } : []
    return similar.count == 1 ? similar[0] : nil
  }
}
#endif
