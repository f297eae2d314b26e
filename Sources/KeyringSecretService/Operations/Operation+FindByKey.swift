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
  /// In a new session, a search for this package's own item was sent while the session was opened. The path
  /// that it found counts as the last known one.
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
      search.expect(prefetchedReplies.map { $0.child(0).paths }, of: keys)
    }
    // Items that change all the time get a closer look.
    for _ in 0..<3 where !search.isOver { try await advance(&search) }
    for key in keys {
      if search.paths[key] != known[key] { record(search.paths[key], of: key) }
      if search.absent.contains(key) || search.items[key] != nil { continue }
      // There are several items, or the item belongs to another program, is locked or has just vanished.
      search.items[key] = try await selectedItems(matching: .key(key, details: details)).first
    }
    if provider.replacesAtOnce { return search.items }
    return search.items.merging(try await reappearing(keys, search.items, details)) { $1 }
  }

  /// The time after which an item that another program was replacing is there again.
  private static let timeOfReplacement = Duration.milliseconds(20)

  /// Finds items that were there a moment ago, and that another program may have been replacing.
  private func reappearing(
    _ keys: [ItemKey], _ found: [ItemKey: SecureItem], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var gone: [ItemKey] = []
    for key in keys {
      let name = ItemLocation(collection: options.collection, key: key)
      let isThere = found[key] != nil
      if !isThere, session.itemsThere[name] == true { gone.append(key) }
      session.itemsThere[name] = isThere ? true : nil
    }
    if gone.isEmpty { return [:] }
    _ = await Waiter.wait(until: .now(plus: Self.timeOfReplacement)) { _ in }
    return try await items(for: gone, details)
  }

  /// Sends the next messages for every key, all of them concurrently.
  private func advance(_ search: inout KeySearch) async throws(SecureStorageError) {
    let flight = search.nextFlight(in: session)
    let result =
      flight.unknown.isEmpty
      ? try await self.search(flight.attributeSets, with: flight.request.messages)
      : try await searchEverything(flight.attributeSets, with: flight.request.messages)
    let own = Array(result.found.prefix(flight.likely.count))
    let contents = try await contents(
      of: Set(own.filter { $0.count == 1 }.joined()), flight.request, result.answers)
    search.record(own, contents, of: flight.likely)
    var others = result
    others.found.removeFirst(own.count)
    search.record(others, of: flight.unknown)
  }
}

/// The progress of a search for the items with several keys.
private struct KeySearch {
  private enum Step: Equatable {
    /// A search for items regardless of owner.
    case regardlessOfOwner
    /// A search for this package's own items.
    ///
    /// The item at this path, if any, is fetched in the same flight.
    case own(ObjectPath?)
  }

  /// Searches and requests that are sent concurrently.
  struct Flight {
    /// The keys with a search for items regardless of owner.
    let unknown: [ItemKey]
    /// The keys with a search for own items.
    let likely: [ItemKey]
    /// The request for the items at the probable paths.
    let request: ItemFetch

    /// The attributes of the searches.
    var attributeSets: [[String: String]] {
      likely.map(\.ownAttributes) + unknown.map(\.attributes)
    }
  }

  private let details: ItemQuery.Details
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
    // Two keys may have found the same item.
    let paths = Set(guesses.values.compactMap(\.self))
    return Flight(
      unknown: steps.compactMap { if case .regardlessOfOwner = $1 { $0 } else { nil } },
      likely: Array(guesses.keys), request: ItemFetch(Array(paths), details, in: session))
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

  /// Records the probable paths of this package's own items, for the next flight.
  mutating func expect(_ found: [[ObjectPath]], of keys: [ItemKey]) {
    for (key, found) in zip(keys, found) where found.count == 1 { steps[key] = .own(found[0]) }
  }

  /// Records the result of a search for this package's own items.
  ///
  /// - Parameters:
  ///   - found: The found items for each key.
  ///   - contents: The items that were fetched concurrently with the search.
  ///   - keys: The keys.
  mutating func record(
    _ found: [[ObjectPath]], _ contents: FetchedItems, of keys: [ItemKey]
  ) {
    for (key, found) in zip(keys, found) {
      guard found.count == 1 else {
        paths[key] = nil
        let isForeign = present.contains(key)
        steps[key] = found.isEmpty && !isForeign ? .regardlessOfOwner : nil
        continue
      }
      paths[key] = found[0]
      items[key] = contents.item(key, at: found[0], details)
      // An item that was fetched, and isn't available, needs a closer look.
      let wasFetched = items[key] != nil || steps[key] == .own(found[0])
      steps[key] = wasFetched ? nil : .own(found[0])
    }
  }
}
#endif
