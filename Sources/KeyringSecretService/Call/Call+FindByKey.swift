#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the items with these keys, in as many steps as it takes to find one: the usual read.
  ///
  /// What was read before takes one step: the search for an item and the request for its secret, at
  /// the path that it had then, travel side by side. The secret is used only if the search has found
  /// just that path. In a new session the search has travelled with the opening.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: Any reason for not knowing the answer.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let early = answersAtOpening?.map { $0.child(0).paths }
    let known =
      early == nil ? session.itemPlaces.places(of: keys, in: options.collection) : [:]
    let knownPaths = keys.compactMap { known[$0]?.path }
    let missing = keys.filter { known[$0] == .nowhere }
    let first = ItemRequest(knownPaths, details, in: session)
    let (found, answers): ([[ObjectPath]], [Variant?]) =
      if let early { (early, []) } else {
        try search(
          keys.map(\.ownAttributes) + missing.map(\.attributes), with: first.messages)
      }
    let own = Dictionary(uniqueKeysWithValues: zip(keys, found))
    var foreign = Dictionary(uniqueKeysWithValues: zip(missing, found.dropFirst(keys.count)))

    let paths = own.compactMapValues { $0.count == 1 ? $0[0] : nil }
    var items = try self.items(
      at: paths.filter { known[$0.key]?.path == $0.value }, details, first, answers)

    // The second step: what was elsewhere, or is not ours.
    let moved = paths.filter { known[$0.key]?.path != $0.value }
    let unknown = keys.filter { own[$0] == [] && foreign[$0] == nil }
    let second = ItemRequest(Array(moved.values), details, in: session)
    let rest = try search(unknown.map(\.attributes), with: second.messages)
    foreign.merge(zip(unknown, rest.found)) { $1 }
    items.merge(try self.items(at: moved, details, second, rest.answers)) { $1 }

    for key in keys {
      let isAbsent = own[key] == [] && foreign[key] == []
      let place: ItemPlaces.Place? = isAbsent ? .nowhere : paths[key].map { .at($0) }
      if place != known[key] { note(place, of: key) }
      if isAbsent || items[key] != nil { continue }
      // A closer look: several items, another program's, one that is locked or has just vanished.
      items[key] = try selectedItems(matching: .key(key, details: details)).first
    }
    return items
  }

  /// The items at these paths, as far as the answers have what is wanted of them.
  private func items(
    at paths: [ItemKey: ObjectPath], _ details: ItemQuery.Details,
    _ request: ItemRequest, _ answers: [Variant?]
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let contents = try contents(of: Set(paths.values), request, answers)
    var items: [ItemKey: SecureItem] = [:]
    for (key, path) in paths { items[key] = contents.item(key, at: path, details) }
    return items
  }
}

extension Call {
  /// Remembers where the item with a key is.
  func note(_ place: ItemPlaces.Place?, of key: ItemKey) {
    session.itemPlaces.note(place, of: key, in: options.collection)
  }
}

extension ItemPlaces.Place {
  fileprivate var path: ObjectPath? {
    if case .at(let path) = self { path } else { nil }
  }
}
#endif
