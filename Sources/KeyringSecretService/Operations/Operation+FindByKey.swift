// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension Operation {
  /// Finds the items with these keys in as few steps as possible.
  ///
  /// Most reads use this method. A key that was used before takes one step: the search for this package's
  /// own item and the request for its secret, at the last known path, are sent concurrently. The secret is
  /// used only if the search finds exactly that path.
  ///
  /// A new key begins with a search for items regardless of owner, so an absent value takes one step, too.
  /// In a new session, a search for this package's own item was sent while the session was opened.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  /// - Returns: The found items, by key.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var known: [ItemKey: ObjectPath] = [:]
    for key in keys { known[key] = knownPath(of: key) }
    // Some providers may report each use of an item, or ask the user to confirm it. They aren't asked for
    // the secret of any other item.
    var search = KeySearch(keys, known, details, guessing: provider.listsLockedItems)
    // A default collection that changes by itself may have changed since the session was opened.
    if let prefetchedReplies, !choosesCollection {
      search.record(atOpening: prefetchedReplies.map { $0.child(0).paths }, of: keys)
    }
    // Items that change all the time get a closer look.
    for _ in 0..<3 where !search.isOver { try await advance(&search) }
    for key in keys {
      if search.paths[key] != known[key] { record(search.paths[key], of: key) }
      if search.absent.contains(key) || search.items[key] != nil { continue }
      // There are several items, or the item belongs to another program, is locked or has just vanished.
      search.items[key] = try await selectedItems(matching: .key(key, details: details)).first
    }
    return search.items
  }

  /// Sends the next messages for every key, all of them concurrently.
  private func advance(_ search: inout KeySearch) async throws(SecureStorageError) {
    let flight = search.nextFlight(in: session)
    // A search for own items doesn't notice that another collection is chosen by now.
    let result =
      flight.unknown.isEmpty && !choosesCollection
      ? try await self.search(flight.attributeSets, with: flight.request.messages)
      : try await searchEverything(flight.attributeSets, with: flight.request.messages)
    let found = flight.found(in: result)
    let confirmed = flight.confirmed(by: found)
    let contents = try await contents(of: Set(confirmed.values), flight.request, result.answers)
    for (key, path) in confirmed {
      search.record(contents.item(key, at: path, search.details), of: key)
    }
    search.record(found)
    var others = result
    others.found.removeFirst(flight.likely.count)
    search.record(others, of: flight.unknown)
  }
}

/// The progress of a search for the items with several keys.
private struct KeySearch {
  private enum Step {
    /// A search for items regardless of owner.
    case regardlessOfOwner
    /// A search for this package's own items.
    ///
    /// The item at this path, if any, is fetched in the same flight.
    case own(ObjectPath?)
    /// A request for this package's own item, which is at this path.
    case known(ObjectPath)
  }

  /// Searches and requests that are sent concurrently.
  struct Flight {
    /// The keys with a search for items regardless of owner.
    let unknown: [ItemKey]
    /// The keys with a search for own items.
    let likely: [ItemKey]
    /// The probable paths of own items, which are searched for and fetched.
    let guesses: [ItemKey: ObjectPath?]
    /// The paths of own items, which are only fetched.
    let known: [ItemKey: ObjectPath]
    let request: ItemFetch

    /// The attributes of the searches.
    var attributeSets: [[String: String]] {
      likely.map(\.ownAttributes) + unknown.map(\.attributes)
    }

    /// Returns the own items that the searches have found.
    func found(in result: SearchResult) -> [ItemKey: [ObjectPath]] {
      Dictionary(uniqueKeysWithValues: zip(likely, result.found))
    }

    /// Returns the paths of the items that were fetched and that belong to their keys.
    func confirmed(by found: [ItemKey: [ObjectPath]]) -> [ItemKey: ObjectPath] {
      guesses.compactMapValues(\.self).filter { found[$0] == [$1] }
        .merging(known) { $1 }
    }
  }

  let details: ItemQuery.Details
  private let isGuessing: Bool
  var items: [ItemKey: SecureItem] = [:]
  /// The paths of this package's own items.
  private(set) var paths: [ItemKey: ObjectPath] = [:]
  /// The keys under which nothing is stored, neither by this package nor by another program.
  private(set) var absent: Set<ItemKey> = []
  private var steps: [ItemKey: Step] = [:]
  /// The keys for which an item was found, regardless of owner.
  private var present: Set<ItemKey> = []

  init(
    _ keys: [ItemKey], _ known: [ItemKey: ObjectPath], _ details: ItemQuery.Details,
    guessing: Bool
  ) {
    self.details = details
    isGuessing = guessing
    for key in keys { steps[key] = known[key].map { .own($0) } ?? .regardlessOfOwner }
  }

  var isOver: Bool { steps.isEmpty }

  /// Returns the messages to send next.
  func nextFlight(in session: SecretSession) -> Flight {
    let guesses: [ItemKey: ObjectPath?] = steps.compactMapValues {
      if case .own(let path) = $0 { .some(path) } else { nil }
    }
    let known = steps.compactMapValues { if case .known(let path) = $0 { path } else { nil } }
    // Two keys may have found the same item.
    let paths = Set(guesses.values.compactMap(\.self) + known.values)
    return Flight(
      unknown: steps.compactMap { if case .regardlessOfOwner = $1 { $0 } else { nil } },
      likely: Array(guesses.keys), guesses: guesses, known: known,
      request: ItemFetch(Array(paths), details, in: session))
  }

  /// Records a fetched item, or `nil` if the item needs a closer look.
  mutating func record(_ item: SecureItem?, of key: ItemKey) {
    items[key] = item
    if case .known = steps[key] { steps[key] = nil }
  }

  /// Records the result of a search for items regardless of owner.
  mutating func record(_ result: SearchResult, of keys: [ItemKey]) {
    for (key, found) in zip(keys, result.found) {
      if found.isEmpty {
        // A locked collection may hide an item.
        if !result.isLocked { absent.insert(key) }
        steps[key] = nil
      } else {
        present.insert(key)
        steps[key] = .own(isGuessing && found.count == 1 ? found[0] : nil)
      }
    }
  }

  /// Records this package's own items that the search at the opening of the session found.
  mutating func record(atOpening found: [[ObjectPath]], of keys: [ItemKey]) {
    for (key, paths) in zip(keys, found) where paths.count == 1 {
      self.paths[key] = paths[0]
      steps[key] = .known(paths[0])
    }
  }

  /// Records the result of a search for this package's own items.
  mutating func record(_ found: [ItemKey: [ObjectPath]]) {
    for (key, paths) in found {
      if paths.isEmpty {
        steps[key] = present.contains(key) ? nil : .regardlessOfOwner
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
