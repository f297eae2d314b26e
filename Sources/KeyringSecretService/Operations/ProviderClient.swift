// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// A type that sends messages to the provider, for an operation or for an observer of a collection.
protocol ProviderClient {
  associatedtype Failure: Error

  var provider: Provider { get }

  /// Sends messages concurrently.
  ///
  /// - Parameter messages: The messages.
  /// - Returns: The answer to each message. It's `nil` if the message's object doesn't exist or is gone, or
  ///   if a closer look must show why there is no answer.
  /// - Throws: The failure of any of the messages.
  func send(_ messages: [MethodCall]) async throws(Failure) -> [Variant?]

  /// Returns the error for an answer that has the right D-Bus type but makes no sense.
  func unexpectedAnswer(_ text: String) -> Failure
}

extension ProviderClient {
  /// Sends one message, and returns `nil` if its object doesn't exist or is gone.
  func send(_ message: MethodCall) async throws(Failure) -> Variant? {
    try await send([message])[0]
  }
}

extension [Result<Variant, DBusError>] {
  /// Returns the answers to messages in the form that clients receive.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - acceptingRefusals: A Boolean value that indicates whether a refusal to search or to read secrets
  ///     is an answer. It means that something is gone or locked.
  /// - Returns: The answer to each message, or `nil`.
  /// - Throws: The failure of any of the messages.
  func answers(
    to messages: [MethodCall], acceptingRefusals: Bool = true
  ) throws(DBusError) -> [Variant?] {
    var answers: [Variant?] = []
    for (message, result) in zip(messages, self) {
      switch result {
      case .success(let answer): answers.append(answer)
      case .failure(let failure)
      where failure.isUnknownObject(of: message)
        || acceptingRefusals && failure.isRefusal(of: message):
        answers.append(nil)
      case .failure(let failure): throw failure
      }
    }
    return answers
  }
}

// MARK: - Collections

extension ProviderClient {
  /// Returns the path of a storage's current collection.
  ///
  /// - Parameter collection: The collection.
  /// - Returns: The path, or `nil` if there is none. An alias may stand for a collection that no longer
  ///   exists.
  /// - Throws: The failure of a message.
  func path(
    of collection: SecretServiceStorage.Collection
  ) async throws(Failure) -> ObjectPath? {
    if isChosen(collection) { return ObjectPath.chosen(from: try await collections()) }
    if let alias = collection.alias { return try await self.collection(aliased: alias) }
    guard case .named(let label) = collection else { return nil }
    return try await self.collection(labeled: label)
  }

  /// Returns `true` if one of all collections is chosen for the storage.
  ///
  /// That's the case if the provider's default collection changes by itself.
  func isChosen(_ collection: SecretServiceStorage.Collection) -> Bool {
    collection == .default && !provider.keepsDefaultCollection
  }

  /// Lists all collections.
  func collections() async throws(Failure) -> [ObjectPath] {
    try collections(try await send(.collections()))
  }

  /// Reads the list of collections from the provider's answer.
  func collections(_ answer: Variant?) throws(Failure) -> [ObjectPath] {
    guard let list = answer?.child(0).child(0), list.isOfType("ao") else {
      throw unexpectedAnswer("no list of collections")
    }
    return list.paths
  }

  /// Lists all collections with their labels, without those that vanish in the meantime.
  func labeledCollections() async throws(Failure) -> [(path: ObjectPath, label: String)] {
    let paths = try await collections()
    let labels = try await send(paths.map { .label(ofCollection: $0) })
    return zip(paths, labels).compactMap { path, answer in
      guard let label = answer?.child(0).child(0), label.isOfType("s") else { return nil }
      return (path, label.text)
    }
  }

  /// Finds the collection with a label.
  func collection(labeled label: String) async throws(Failure) -> ObjectPath? {
    try await labeledCollections().first { $0.label.hasSameBytes(label) }?.path
  }

  /// Returns the collection that an alias stands for.
  func collection(aliased name: String) async throws(Failure) -> ObjectPath? {
    guard let answer = try await send(.readAlias(name)) else { return nil }
    let path = ObjectPath(answer.child(0).text)
    return path.isNone ? nil : path
  }

  /// Returns `true` if a collection is locked, or `nil` if it doesn't exist or is gone.
  func lockState(of collection: ObjectPath) async throws(Failure) -> Bool? {
    guard let answer = try await send(.isLocked(collection)) else { return nil }
    return try isLocked(answer)
  }

  /// Returns `true` if the provider's answer says that a collection is locked.
  func isLocked(_ answer: Variant) throws(Failure) -> Bool {
    let value = answer.child(0).child(0)
    guard value.isOfType("b") else { throw unexpectedAnswer("no state of the lock") }
    return value.bool
  }
}

extension SecretServiceStorage.Collection {
  /// The name that the Secret Service has for the collection, regardless of its label.
  var alias: String? {
    switch self {
    case .default: "default"
    case .session: "session"
    case .named: nil
    }
  }
}

extension ObjectPath {
  /// Returns the collection that stands for a default collection that changes by itself.
  ///
  /// Every program chooses the same collection, at any time.
  static func chosen(from collections: [ObjectPath]) -> ObjectPath? {
    collections.min { $0.text < $1.text }
  }
}

// MARK: - Searches

extension ProviderClient {
  /// Returns the message that finds the items, locked or not, that have all these attributes.
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
