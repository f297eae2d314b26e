#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the items with these keys, in as many steps as it takes to find one: the usual read.
  ///
  /// A value that was read before takes one step: the search for an item and the request for its
  /// secret, at the path that it had then, travel side by side. The secret is used only if the search
  /// has found just that path. In a new session the search has traveled with the opening.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    // At the opening the default collection was searched, which may be another one now.
    let early = choosesCollection ? nil : answersAtOpening?.map { $0.child(0).paths }
    let known =
      early == nil ? session.itemPlaces.places(of: keys, in: options.collection) : [:]
    let missing = keys.filter { known[$0] == .nowhere }
    let likely = keys.filter { known[$0] != .nowhere }
    let first = ItemRequest(likely.compactMap { known[$0]?.path }, details, in: session)
    let result =
      if let early { SearchResult(found: early) } else {
        try firstSearch(likely, missing, with: first.messages)
      }
    let own = Dictionary(uniqueKeysWithValues: zip(likely, result.found))
    var absent = result.absent(of: missing, from: likely.count)
    let paths = own.compactMapValues { $0.count == 1 ? $0[0] : nil }
    var items = try self.items(
      at: paths.filter { known[$0.key]?.path == $0.value }, details, first, result.answers)

    // The second step: what was elsewhere, or is not ours.
    let moved = paths.filter { known[$0.key]?.path != $0.value }
    let unknown = likely.filter { own[$0] == [] }
    let second = ItemRequest(Array(moved.values), details, in: session)
    if unknown.isEmpty {
      items.merge(try self.items(at: moved, details, second, send(second.messages))) { $1 }
    } else {
      let rest = try searchEverything(unknown.map(\.attributes), with: second.messages)
      absent.formUnion(rest.absent(of: unknown))
      items.merge(try self.items(at: moved, details, second, rest.answers)) { $1 }
    }

    for key in keys {
      let isAbsent = absent.contains(key)
      let place: ItemPlaces.Place? = isAbsent ? .nowhere : paths[key].map { .at($0) }
      if place != known[key] { note(place, of: key) }
      if isAbsent || items[key] != nil { continue }
      // A closer look: several items, another program's, one that is locked or has just vanished.
      items[key] = try selectedItems(matching: .key(key, details: details)).first
    }
    return items
  }

  /// Searches for our own items, and for anybody's where there was none.
  private func firstSearch(
    _ likely: [ItemKey], _ missing: [ItemKey], with others: [Message]
  ) throws(SecureStorageError) -> SearchResult {
    let own = likely.map(\.ownAttributes)
    if missing.isEmpty { return try search(own, with: others) }
    return try searchEverything(own + missing.map(\.attributes), with: others)
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

extension SearchResult {
  /// The keys under which nothing is stored, neither by this package nor by another program.
  ///
  /// - Parameters:
  ///   - keys: The keys whose parts were searched for.
  ///   - index: The index of the first of them in the result.
  /// - Returns: The keys; none where an item may be hidden.
  fileprivate func absent(of keys: [ItemKey], from index: Int = 0) -> Set<ItemKey> {
    guard !isLocked else { return [] }
    return Set(zip(keys, found.dropFirst(index)).filter(\.1.isEmpty).map(\.0))
  }
}

extension ItemPlaces.Place {
  fileprivate var path: ObjectPath? {
    if case .at(let path) = self { path } else { nil }
  }
}
#endif
