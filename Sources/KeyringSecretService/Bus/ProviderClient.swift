#if SecretService && os(Linux)
internal import KeyringStorage

/// Sends messages to the provider, for an operation or for an observer of a collection.
protocol ProviderClient {
  associatedtype Failure: Error

  var provider: Provider { get }

  /// Sends messages side by side.
  ///
  /// - Parameter messages: The messages.
  /// - Returns: For each message its answer, or `nil` when its object does not exist (any more), or when
  ///   a closer look must tell why there is no answer.
  /// - Throws: The failure of any of them.
  func send(_ messages: [Message]) async throws(Failure) -> [Variant?]

  /// The error for an answer of the right D-Bus type that still makes no sense.
  func unexpectedAnswer(_ text: String) -> Failure
}

extension ProviderClient {
  /// Sends one message; the answer is `nil` when its object does not exist (any more).
  func send(_ message: Message) async throws(Failure) -> Variant? { try await send([message])[0] }
}

extension [Result<Variant, BusFailure>] {
  /// The answers to messages, as clients get them.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - acceptingRefusals: Whether a refusal to search or to read secrets is an answer: something is
  ///     gone or locked.
  /// - Returns: For each message its answer, or `nil`.
  /// - Throws: The failure of any of them.
  func answers(
    to messages: [Message], acceptingRefusals: Bool = true
  ) throws(BusFailure) -> [Variant?] {
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
  /// Finds what a storage's collection is at the moment.
  ///
  /// - Parameter collection: The collection.
  /// - Returns: Its path, and `nil` when there is none; what an alias stands for need not exist any more.
  /// - Throws: The failure of a message.
  func path(
    of collection: SecretServiceStorage.Collection
  ) async throws(Failure) -> ObjectPath? {
    if isChosen(collection) { return ObjectPath.chosen(from: try await collections()) }
    if let alias = collection.alias { return try await self.collection(aliased: alias) }
    guard case .named(let label) = collection else { return nil }
    return try await self.collection(labeled: label)
  }

  /// Returns `true` if one of all collections is chosen, because the provider's default one changes by itself.
  func isChosen(_ collection: SecretServiceStorage.Collection) -> Bool {
    collection == .default && !provider.keepsDefaultCollection
  }

  /// Lists all collections.
  func collections() async throws(Failure) -> [ObjectPath] {
    try collections(try await send(.collections()))
  }

  /// Reads the answer to the question for all collections.
  func collections(_ answer: Variant?) throws(Failure) -> [ObjectPath] {
    guard let list = answer?.child(0).child(0), list.isOfType("ao") else {
      throw unexpectedAnswer("no list of collections")
    }
    return list.paths
  }

  /// Lists all collections with their labels; those that vanish meanwhile are left out.
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
    try await labeledCollections().first { $0.label.isExactly(label) }?.path
  }

  /// Returns the collection that an alias stands for.
  func collection(aliased name: String) async throws(Failure) -> ObjectPath? {
    guard let answer = try await send(.readAlias(name)) else { return nil }
    let path = ObjectPath(answer.child(0).text)
    return path.isNone ? nil : path
  }

  /// Returns `true` if a collection is locked, and `nil` if it doesn't exist (any more).
  func lockState(of collection: ObjectPath) async throws(Failure) -> Bool? {
    guard let answer = try await send(.isLocked(collection)) else { return nil }
    return try isLocked(answer)
  }

  /// Reads the answer to the question whether a collection is locked.
  func isLocked(_ answer: Variant) throws(Failure) -> Bool {
    let value = answer.child(0).child(0)
    guard value.isOfType("b") else { throw unexpectedAnswer("no state of the lock") }
    return value.bool
  }
}

extension SecretServiceStorage.Collection {
  /// The name by which the Secret Service knows the collection whatever its label.
  var alias: String? {
    switch self {
    case .default: "default"
    case .session: "session"
    case .named: nil
    }
  }
}

extension ObjectPath {
  /// The collection that stands for the default one where that changes by itself: every program takes
  /// the same, at any time.
  static func chosen(from collections: [ObjectPath]) -> ObjectPath? {
    collections.min { $0.text < $1.text }
  }
}

// MARK: - Searches

extension ProviderClient {
  /// The message that searches a collection for the items, locked or not, that have all these attributes.
  func searchMessage(_ collection: ObjectPath, _ attributes: [String: String]) -> Message {
    // Not every provider takes a search that names nothing for one that finds everything.
    attributes.isEmpty && !provider.findsAllWithoutAttributes
      ? .items(of: collection) : .searchItems(in: collection, attributes)
  }

  /// The items in the answer to such a message.
  func itemPaths(in answer: Variant?) -> [ObjectPath] {
    guard let value = answer?.child(0) else { return [] }
    if value.isOfType("ao") { return value.paths }
    let property = value.child(0)
    return property.isOfType("ao") ? property.paths : []
  }
}
#endif
