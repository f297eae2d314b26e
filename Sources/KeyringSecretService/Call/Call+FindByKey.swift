#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the items with these keys, in as few steps as there can be: the usual read.
  ///
  /// A key that was met before takes one step: the search for our own item and the request for its
  /// secret, at the path that it had then, travel side by side. The secret is used only if the search
  /// has found just that path. A key not met before begins with a search for anybody's item, so an absent
  /// value takes one step, too. In a new session a search for our own item has traveled with the opening.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let known = session.itemPlaces.paths(of: keys, in: options.collection)
    // Where every use of an item may be told or confirmed, no other item is asked for its secret.
    var search = KeySearch(keys, known, details, guessing: provider.listsLockedItems)
    // A default collection that changes by itself may be another one since the opening.
    if let answersAtOpening, !choosesCollection {
      search.note(atOpening: answersAtOpening.map { $0.child(0).paths }, of: keys)
    }
    // Whatever moves all the time gets a closer look.
    for _ in 0..<3 where !search.isOver { try await advance(&search) }
    for key in keys {
      if search.paths[key] != known[key] { note(search.paths[key], of: key) }
      if search.absent.contains(key) || search.items[key] != nil { continue }
      // Several items, another program's, one that is locked or has just vanished.
      search.items[key] = try await selectedItems(matching: .key(key, details: details)).first
    }
    return search.items
  }

  /// Sends what every key needs next, all of it side by side.
  private func advance(_ search: inout KeySearch) async throws(SecureStorageError) {
    let (unknown, guesses, known) = (search.unknown, search.guesses, search.known)
    let likely = Array(guesses.keys)
    // Two keys may have found the same item.
    let paths = Set(guesses.values.compactMap(\.self) + known.values)
    let request = ItemRequest(Array(paths), search.details, in: session)
    let own = likely.map(\.ownAttributes)
    let result =
      unknown.isEmpty
      ? try await self.search(own, with: request.messages)
      : try await searchEverything(own + unknown.map(\.attributes), with: request.messages)
    let found = Dictionary(uniqueKeysWithValues: zip(likely, result.found))
    let confirmed =
      Array(known)
      + likely.compactMap { key in
        guesses[key]?.flatMap { found[key] == [$0] ? (key, $0) : nil }
      }
    let contents = try await contents(of: Set(confirmed.map(\.1)), request, result.answers)
    for (key, path) in confirmed {
      search.note(contents.item(key, at: path, search.details), of: key)
    }
    search.note(found)
    var rest = result
    rest.found.removeFirst(likely.count)
    search.note(rest, of: unknown)
  }
}

extension Call {
  /// Remembers where the item with a key is.
  func note(_ path: ObjectPath?, of key: ItemKey) {
    session.itemPlaces.note(path, of: key, in: options.collection)
  }
}

/// The progress of a search for the items with some keys.
private struct KeySearch {
  private enum Step {
    /// Anybody's items are to be searched for.
    case anybodys
    /// Our own items are to be searched for, and the item at this path, if any, is fetched in the same
    /// flight.
    case own(ObjectPath?)
    /// Our own item is at this path, and is to be fetched.
    case known(ObjectPath)
  }

  let details: ItemQuery.Details
  private let isGuessing: Bool
  var items: [ItemKey: SecureItem] = [:]
  /// The paths of our own items.
  private(set) var paths: [ItemKey: ObjectPath] = [:]
  /// The keys under which nothing is stored, neither by this package nor by another program.
  private(set) var absent: Set<ItemKey> = []
  private var steps: [ItemKey: Step] = [:]
  /// The keys for which an item was found, whoever made it.
  private var present: Set<ItemKey> = []

  init(
    _ keys: [ItemKey], _ known: [ItemKey: ObjectPath], _ details: ItemQuery.Details,
    guessing: Bool
  ) {
    self.details = details
    isGuessing = guessing
    for key in keys { steps[key] = known[key].map { .own($0) } ?? .anybodys }
  }

  var isOver: Bool { steps.isEmpty }

  /// The keys for which anybody's items are to be searched for.
  var unknown: [ItemKey] {
    steps.compactMap { if case .anybodys = $1 { $0 } else { nil } }
  }

  /// The other keys, and where their items probably are.
  var guesses: [ItemKey: ObjectPath?] {
    steps.compactMapValues { if case .own(let path) = $0 { .some(path) } else { nil } }
  }

  /// The keys whose own items were found and not fetched, and their paths.
  var known: [ItemKey: ObjectPath] {
    steps.compactMapValues { if case .known(let path) = $0 { path } else { nil } }
  }

  /// Takes over an item that was fetched; `nil` if it needs a closer look.
  mutating func note(_ item: SecureItem?, of key: ItemKey) {
    items[key] = item
    if case .known = steps[key] { steps[key] = nil }
  }

  /// Takes over what the search for anybody's items has found, and not found.
  mutating func note(_ result: SearchResult, of keys: [ItemKey]) {
    for (key, found) in zip(keys, result.found) {
      if found.isEmpty {
        // What is locked may hide an item.
        if !result.isLocked { absent.insert(key) }
        steps[key] = nil
      } else {
        present.insert(key)
        steps[key] = .own(isGuessing && found.count == 1 ? found[0] : nil)
      }
    }
  }

  /// Takes over which of our own items the search at the opening has found.
  mutating func note(atOpening found: [[ObjectPath]], of keys: [ItemKey]) {
    for (key, paths) in zip(keys, found) where paths.count == 1 {
      self.paths[key] = paths[0]
      steps[key] = .known(paths[0])
    }
  }

  /// Takes over what the search for our own items has found.
  mutating func note(_ found: [ItemKey: [ObjectPath]]) {
    for (key, paths) in found {
      if paths.isEmpty {
        steps[key] = present.contains(key) ? nil : .anybodys
      } else if paths.count > 1 {
        steps[key] = nil
      } else if case .own(let guess) = steps[key] {
        self.paths[key] = paths[0]
        steps[key] = guess == paths[0] ? nil : .known(paths[0])
      }
    }
  }
}
#endif
