#if SecretService && os(Linux)
internal import KeyringStorage

/// Reads what there is to know of collections and items without unlocking anything or asking anybody.
struct CollectionReading: ProviderClient {
  let provider: Provider
  let connection: BusConnection
  let deadline: Deadline
  /// Called with each message when its answer arrives, between the signals that arrive before and after.
  var onAnswer: (Message) -> Void = { _ in }

  func send(_ messages: [Message]) async throws(BusFailure) -> [Variant?] {
    try await connection.send(messages, to: provider.uniqueName, until: deadline) { index in
      onAnswer(messages[index])
    }.answers(to: messages)
  }

  func unexpectedAnswer(_ text: String) -> BusFailure {
    BusFailure(domain: "secret", code: 0, text: "the keyring answered with \(text)")
  }

  /// Where a collection is and whether it is locked; `nil` when there is none.
  func state(
    of collection: SecretServiceStorage.Collection
  ) async throws(BusFailure) -> ObservedCollection.State? {
    guard let path = try await path(of: collection), let isLocked = try await lockState(of: path)
    else { return nil }
    return ObservedCollection.State(path: path, isLocked: isLocked)
  }

  /// The properties of the items, locked or not, that a query may be about.
  func items(
    of collection: ObjectPath, for query: ItemQuery?
  ) async throws(BusFailure) -> [ObjectPath: Variant] {
    let attributes = query?.key?.attributes ?? query?.searchedAttributes ?? [:]
    let paths = itemPaths(in: try await send(searchMessage(collection, attributes)))
    return try await properties(of: paths).compactMapValues(\.self)
  }

  /// The properties of items; `nil` for those that are gone.
  func properties(of paths: [ObjectPath]) async throws(BusFailure) -> [ObjectPath: Variant?] {
    let answers = try await send(paths.map { .properties(of: $0) })
    return Dictionary(zip(paths, answers)) { $1 }
  }
}
#endif
