#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the items with these keys, in as few steps as there can be: the usual read.
  ///
  /// A key that was met before takes one step: the search for our own item and the request for its
  /// secret, at the path that it had then, travel side by side. The secret is used only if the search
  /// has found just that path. A key not met before begins with a search for anybody's item, so an absent
  /// value takes one step, too; in a new session such a search has traveled with the opening.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let known = session.itemPlaces.paths(of: keys, in: options.collection)
    // Where every use of an item may be told or confirmed, no other item is asked for its secret.
    var search = KeySearch(keys, known, details, guessing: session.provider.listsLockedItems)
    // A default collection that changes by itself may be another one since the opening.
    if let answersAtOpening, !choosesCollection {
      search.note(present: answersAtOpening.map { $0.child(0).paths }, of: keys)
    }
    // Whatever moves all the time gets a closer look.
    for _ in 0..<3 where !search.isOver { try advance(&search) }
    for key in keys {
      if search.paths[key] != known[key] { note(search.paths[key], of: key) }
      if search.absent.contains(key) || search.items[key] != nil { continue }
      // Several items, another program's, one that is locked or has just vanished.
      search.items[key] = try selectedItems(matching: .key(key, details: details)).first
    }
    return search.items
  }

  /// Sends what every key needs next, all of it side by side.
  private func advance(_ search: inout KeySearch) throws(SecureStorageError) {
    let (unknown, guesses) = (search.unknown, search.guesses)
    let likely = Array(guesses.keys)
    // Two keys may have found the same item.
    let paths = Set(guesses.values.compactMap(\.self))
    let request = ItemRequest(Array(paths), search.details, in: session)
    let own = likely.map(\.ownAttributes)
    let result =
      unknown.isEmpty
      ? try self.search(own, with: request.messages)
      : try searchEverything(own + unknown.map(\.attributes), with: request.messages)
    let found = Dictionary(uniqueKeysWithValues: zip(likely, result.found))
    let confirmed = likely.compactMap { key in
      guesses[key]?.flatMap { found[key] == [$0] ? (key, $0) : nil }
    }
    let contents = try contents(of: Set(confirmed.map(\.1)), request, result.answers)
    search.note(found)
    for (key, path) in confirmed {
      search.items[key] = contents.item(key, at: path, search.details)
    }
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

/// How far the search for the items with some keys has come.
private struct KeySearch {
  private enum Step {
    /// Anybody's items are to be searched for.
    case anybodys
    /// Our own items are to be searched for, and the item at this path, if any, is fetched in the same
    /// flight.
    case own(ObjectPath?)
  }

  let details: ItemQuery.Details
  private let isGuessing: Bool
  var items: [ItemKey: SecureItem] = [:]
  /// Where our own items are.
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

  /// Takes over what the search for anybody's items has found, and not found.
  mutating func note(_ result: SearchResult, of keys: [ItemKey]) {
    note(present: result.found, of: keys)
    for (key, found) in zip(keys, result.found) where found.isEmpty {
      // What is locked may hide an item.
      if !result.isLocked { absent.insert(key) }
      steps[key] = nil
    }
  }

  /// Takes over only what the search for anybody's items has found.
  mutating func note(present found: [[ObjectPath]], of keys: [ItemKey]) {
    for (key, found) in zip(keys, found) where !found.isEmpty {
      present.insert(key)
      steps[key] = .own(isGuessing && found.count == 1 ? found[0] : nil)
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
        steps[key] = guess == paths[0] ? nil : .own(paths[0])
      }
    }
  }
}
#endif
