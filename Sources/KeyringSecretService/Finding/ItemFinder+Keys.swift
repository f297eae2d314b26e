// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension ItemFinder {
  /// Finds the items with these keys in as few steps as possible.
  ///
  /// Most reads use this method. A key that was used before takes one step: the search for this package's
  /// own item and the request for its secret, at the last known path, are sent concurrently. The secret is
  /// used only if the search finds exactly that path.
  ///
  /// A new key begins with a search for items regardless of owner, so an absent value takes one step, too.
  /// In a new session, a search for this package's own item was sent while the session was opened. The path
  /// that it found is the last known one.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  /// - Returns: The found items, by key.
  /// - Throws: The error of an item that is unreadable or may be hidden.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let search = newSearch(for: keys, details)
    // Items that change all the time get a closer look.
    for _ in 0..<3 where !search.isOver { try await advance(search) }
    recordPaths(search)
    var items = search.items
    let unclear = search.unclear
    if !unclear.isEmpty { items.merge(try await itemsOnCloserLook(for: unclear, details)) { $1 } }
    if call.provider.replacesAtOnce { return items }
    return items.merging(try await reappearing(keys, items, details)) { $1 }
  }

  // These methods aren't inlined. Otherwise each waiting read would take memory for them.

  @inline(never)
  private func newSearch(for keys: [ItemKey], _ details: ItemQuery.Details) -> KeySearch {
    // Some providers may report each use of an item, or ask the user to confirm it. They aren't asked for
    // the secret of any other item.
    let search = KeySearch(
      keys.map { KeySearch.Entry($0, at: knownPath(of: $0)) }, details,
      guessing: call.provider.listsLockedItems)
    // A default collection that changes by itself may have changed since the session was opened.
    if let replies = call.prefetchedReplies, !call.choosesCollection {
      search.expect(replies.map { $0.child(0).paths })
    }
    return search
  }

  @inline(never)
  private func recordPaths(_ search: KeySearch) {
    for entry in search.entries where entry.path != entry.knownPath {
      record(entry.path, of: entry.key)
    }
  }

  /// Finds items of which there are several, or that belong to another program, are locked or have just vanished.
  @inline(never)
  private func itemsOnCloserLook(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var items: [ItemKey: SecureItem] = [:]
    for key in keys {
      items[key] = try await selectedItems(matching: .key(key, details: details)).first
    }
    return items
  }

  /// The times after which an item that another program was replacing is there again.
  ///
  /// It mostly is at once. A program that replaces it again and again may be doing so after any wait.
  private static let timesOfReplacement = [0, 20].map { Duration.milliseconds($0) }

  /// Finds items that were there a moment ago, and that another program may have been replacing.
  @inline(never)
  private func reappearing(
    _ keys: [ItemKey], _ found: [ItemKey: SecureItem], _ details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    var gone: [ItemKey] = []
    for key in keys {
      let name = ItemLocation(collection: call.options.collection, key: key)
      let isThere = found[key] != nil
      if !isThere, call.session.itemsThere[name] == true { gone.append(key) }
      call.session.itemsThere[name] = isThere ? true : nil
    }
    var items: [ItemKey: SecureItem] = [:]
    for time in Self.timesOfReplacement where !gone.isEmpty {
      _ = await Waiter.wait(until: .now(plus: time)) { _ in }
      items.merge(try await self.items(for: gone, details)) { $1 }
      gone.removeAll { items[$0] != nil }
    }
    return items
  }

  /// Sends the next messages for every key, all of them concurrently.
  private func advance(_ search: KeySearch) async throws(SecureStorageError) {
    let flight = search.nextFlight(in: call.session)
    let result =
      flight.unknown.isEmpty
      ? try await self.search(flight.attributeSets, with: flight.request.messages)
      : try await searchEverything(flight.attributeSets, with: flight.request.messages)
    let own = result.found.prefix(flight.likely.count)
    let contents = try await contents(
      of: Set(own.filter { $0.count == 1 }.joined()), flight.request, result.answers)
    search.record(own, contents, of: flight.likely)
    search.record(
      result.found.dropFirst(own.count), isLocked: result.isLocked, of: flight.unknown)
  }
}

/// The progress of a search for the items with several keys.
///
/// It's a class because the frames of a waiting task have room for it.
private final class KeySearch {
  enum Step: Equatable {
    /// A search for items regardless of owner.
    case regardlessOfOwner
    /// A search for this package's own items.
    ///
    /// The item at this path, if any, is fetched in the same flight.
    case own(ObjectPath?)
  }

  /// The progress of the search for one key.
  struct Entry {
    let key: ItemKey
    /// The last known path of this package's own item.
    let knownPath: ObjectPath?
    /// The next step, or `nil` after the last one.
    var step: Step?
    var item: SecureItem?
    /// The path of this package's own item.
    var path: ObjectPath?
    /// `true` for a key with an item, regardless of owner.
    var isPresent = false
    /// `true` for a key under which this package and all other programs have stored nothing.
    var isAbsent = false

    init(_ key: ItemKey, at knownPath: ObjectPath?) {
      (self.key, self.knownPath) = (key, knownPath)
      step = knownPath.map { .own($0) } ?? .regardlessOfOwner
    }
  }

  /// Searches and requests that are sent concurrently.
  struct Flight {
    /// The entries with a search for items regardless of owner.
    let unknown: [Int]
    /// The entries with a search for own items.
    let likely: [Int]
    /// The attributes of the searches, those for own items first.
    let attributeSets: [[String: String]]
    /// The request for the items at the probable paths.
    let request: ItemFetch
  }

  private let details: ItemQuery.Details
  private let isGuessing: Bool
  private(set) var entries: [Entry]

  init(_ entries: [Entry], _ details: ItemQuery.Details, guessing: Bool) {
    self.details = details
    isGuessing = guessing
    self.entries = entries
  }

  var isOver: Bool { entries.allSatisfy { $0.step == nil } }

  /// The found items, by key.
  var items: [ItemKey: SecureItem] {
    var items: [ItemKey: SecureItem] = [:]
    for entry in entries { items[entry.key] = entry.item }
    return items
  }

  /// The keys that need a closer look after the search.
  var unclear: [ItemKey] { entries.filter { $0.item == nil && !$0.isAbsent }.map(\.key) }

  /// Returns the messages to send next.
  func nextFlight(in session: SecretSession) -> Flight {
    var (unknown, likely): ([Int], [Int]) = ([], [])
    var paths: [ObjectPath] = []
    for (index, entry) in entries.enumerated() {
      switch entry.step {
      case .regardlessOfOwner: unknown.append(index)
      case .own(let path):
        likely.append(index)
        if let path { paths.append(path) }
      case nil: break
      }
    }
    // Two keys may have found the same item.
    if paths.count > 1 { paths = Array(Set(paths)) }
    return Flight(
      unknown: unknown, likely: likely,
      attributeSets: likely.map { entries[$0].key.ownAttributes }
        + unknown.map { entries[$0].key.attributes },
      request: ItemFetch(paths, details, in: session))
  }

  /// Records the result of a search for items regardless of owner.
  func record(_ found: some Collection<[ObjectPath]>, isLocked: Bool, of indices: [Int]) {
    for (index, found) in zip(indices, found) {
      if found.isEmpty {
        // A locked collection may hide an item.
        entries[index].isAbsent = !isLocked
        entries[index].step = nil
      } else {
        entries[index].isPresent = true
        entries[index].step = .own(isGuessing && found.count == 1 ? found[0] : nil)
      }
    }
  }

  /// Records the probable paths of this package's own items, for the next flight.
  func expect(_ found: [[ObjectPath]]) {
    for (index, found) in zip(entries.indices, found) where found.count == 1 {
      entries[index].step = .own(found[0])
    }
  }

  /// Records the result of a search for this package's own items.
  ///
  /// - Parameters:
  ///   - found: The found items for each entry.
  ///   - contents: The items that were fetched concurrently with the search.
  ///   - indices: The entries.
  func record(
    _ found: some Collection<[ObjectPath]>, _ contents: FetchedItems, of indices: [Int]
  ) {
    for (index, found) in zip(indices, found) {
      guard found.count == 1, let path = found.first else {
        entries[index].path = nil
        let mayBeForeign = found.isEmpty && !entries[index].isPresent
        entries[index].step = mayBeForeign ? .regardlessOfOwner : nil
        continue
      }
      let item = contents.item(entries[index].key, at: path, details)
      // An item that was fetched, and isn't available, needs a closer look.
      let wasFetched = item != nil || entries[index].step == .own(path)
      (entries[index].path, entries[index].item) = (path, item)
      entries[index].step = wasFetched ? nil : .own(path)
    }
  }
}
#endif
