#if SecretService && os(Linux)
internal import KeyringStorage

/// Reads what there is to know of a collection without unlocking it or asking anybody.
struct CollectionReading {
  private let collection: SecretServiceStorage.Collection
  private let query: ItemQuery?
  private let provider: Provider
  private let send: ([Message]) async throws(BusFailure) -> [Variant?]

  /// - Parameters:
  ///   - collection: The collection.
  ///   - query: Which items.
  ///   - provider: Who has them.
  ///   - send: Sends messages, and answers `nil` for an object that does not exist.
  init(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?, of provider: Provider,
    _ send: @escaping ([Message]) async throws(BusFailure) -> [Variant?]
  ) {
    (self.collection, self.query, self.provider, self.send) = (collection, query, provider, send)
  }

  /// Where the collection is and whether it is locked; `nil` when there is none.
  func state() async throws(BusFailure) -> ObservedCollection.State? {
    guard let path = try await path(),
      let isLocked = try await property(.isLocked(path), "b")?.bool
    else {
      return nil
    }
    return ObservedCollection.State(path: path, isLocked: isLocked)
  }

  /// The properties of the items, locked or not, that the query may be about.
  func items(of path: ObjectPath) async throws(BusFailure) -> [ObjectPath: Variant] {
    var attributes = query?.key?.attributes ?? [:]
    // A provider compares letter by letter.
    if let query, query.key == nil, !query.ignoresCase { attributes = query.attributes }
    let paths =
      if !attributes.isEmpty {
        try await send([.searchItems(in: path, attributes)])[0]?.child(0).paths ?? []
      } else {
        // KeePassXC answers a search that names nothing with nothing.
        try await property(.items(of: path), "ao")?.paths ?? []
      }
    var items: [ObjectPath: Variant] = [:]
    for (path, answer) in zip(paths, try await send(paths.map { .properties(of: $0) })) {
      items[path] = answer
    }
    return items
  }

  private func path() async throws(BusFailure) -> ObjectPath? {
    if collection == .default, !provider.keepsDefaultCollection {
      return ObjectPath.chosen(from: try await property(.collections(), "ao")?.paths ?? [])
    }
    guard case .named(let label) = collection else {
      let answer = try await send([.readAlias(collection == .session ? "session" : "default")])[0]
      let path = answer.map { ObjectPath($0.child(0).text) }
      return path?.isNone == true ? nil : path
    }
    let paths = try await property(.collections(), "ao")?.paths ?? []
    let labels = try await send(paths.map { .label(ofCollection: $0) })
    return zip(paths, labels).first { _, answer in
      guard let found = answer?.child(0).child(0), found.isOfType("s") else { return false }
      return found.text.isExactly(label)
    }?.0
  }

  private func property(_ message: Message, _ type: String) async throws(BusFailure) -> Variant? {
    guard let value = try await send([message])[0]?.child(0).child(0), value.isOfType(type) else {
      return nil
    }
    return value
  }
}
#endif
