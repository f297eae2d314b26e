// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The cache of a ``CachedStorage``, with items by key and keys that are known to have no item.
///
/// A fetched item that may have changed since the fetch began stays out of the cache. Each fetch keeps a set of its
/// keys until it ends. A key whose item may have changed is removed from that set. Where two fetches at the same time
/// differ in the details that both have, both stay out.
final class ItemCache: Sendable {
  private struct Entry: Sendable {
    /// The item, or `nil`.
    var item: SecureItem?
    var details: ItemQuery.Details
    /// The fetch that has found the item.
    var fetch: Int
    /// The time at which the entry expires.
    var end: CoarseTime?
    /// The time at which it's removed, by a clock that goes on while the machine sleeps.
    var removal: ContinuousClock.Instant?

    /// Returns `true` for an entry that has the details and is still valid.
    func has(_ details: ItemQuery.Details) -> Bool {
      // A comparison with nil would copy the item.
      if case .some = item, !details.isSubset(of: self.details) { return false }
      if let end, end <= .now { return false }
      return true
    }
  }

  private enum Observation: Sendable {
    case none(retry: ContinuousClock.Instant?)
    case starting
    case active(StorageSubscription)
  }

  private struct State: Sendable {
    var entries: [ItemKey: Entry] = [:]
    /// The current fetches, with the keys whose items may be cached.
    var fetches: [Int: Set<ItemKey>] = [:]
    var nextFetch = 0
    /// The keys of the current writes, once for each write; `nil` stands for any key.
    var writes: [ItemKey?] = []
    /// The keys of the changes that other programs are making, in the same form.
    var changes: [ItemKey?] = []
    var observation = Observation.none(retry: nil)
    var isConnected = true
    /// Whether a task waits for an entry to expire.
    var isExpiring = false

    var isObserved: Bool { if case .active = observation { isConnected } else { false } }

    mutating func forget(_ key: ItemKey?) {
      guard let key else {
        entries = [:]
        fetches = [:]
        return
      }
      // Don't hold the dictionary's keys while its entries change: the dictionary would be copied.
      for other in entries.keys.filter(key.mayShareItem) { entries[other] = nil }
      for (fetch, keys) in fetches {
        fetches[fetch] = keys.filter { !key.mayShareItem(with: $0) }
      }
    }

    mutating func forget(_ event: StorageEvent) {
      switch event {
      case .changed(let change): forget(change.key)
      case .mayHaveChanged(let key), .changing(let key), .settled(let key): forget(key)
      case .locked, .interrupted, .resumed: forget(nil)
      }
    }

    func isWritten(_ key: ItemKey) -> Bool {
      (writes + changes).contains { $0.map(key.mayShareItem) ?? true }
    }
  }

  /// The maximum number of entries.
  ///
  /// No app is expected to read more items repeatedly. At the limit, all entries are removed.
  private static let mostEntries = 1000

  /// The time between two attempts to observe the storage.
  private static let retryInterval = Duration.seconds(1)

  private let state = Mutex(State())

  // MARK: - Reading

  /// Returns the cached item of a key.
  ///
  /// - Returns: The item, `.some(nil)` for a missing one, or `nil` for an unknown one.
  func find(_ key: ItemKey, _ details: ItemQuery.Details) -> SecureItem?? {
    find(key, details) { entry in
      details == entry.details ? entry.item : entry.item?.selecting(details)
    }
  }

  /// Returns the cached items of keys, or `nil` unless all of them are known from one fetch.
  ///
  /// Another fetch may have met another version of the storage, although nothing was reported yet.
  func findTogether(
    _ keys: [ItemKey], _ details: ItemQuery.Details
  ) -> [ItemKey: SecureItem]? {
    state.withLock { state in
      var items: [ItemKey: SecureItem] = [:]
      var fetch: Int?
      for key in keys {
        guard let entry = state.entries[key], entry.has(details),
          fetch ?? entry.fetch == entry.fetch
        else { return nil }
        fetch = entry.fetch
        items[key] = entry.item?.selecting(details)
      }
      return items
    }
  }

  /// Returns the cached secret of an item, or `nil`.
  func findSecret(_ key: ItemKey) -> Secret? { find(key, .secret) { $0.item?.secret } ?? nil }

  private func find<Part: Sendable>(
    _ key: ItemKey, _ details: ItemQuery.Details, _ part: (inout Entry) -> Part?
  ) -> Part?? {
    state.withLock { state in
      state.entries.withValue(for: key) { entry -> Part?? in
        entry.has(details) ? .some(part(&entry)) : nil
      } ?? nil
    }
  }

  /// Returns the details to fetch of items.
  ///
  /// They include the cached details, so that all details of an item are from the same moment.
  func detailsToFetch(
    _ keys: [ItemKey], _ details: ItemQuery.Details
  ) -> ItemQuery.Details {
    state.withLock { state in
      keys.reduce(into: details) { $0.formUnion(state.entries[$1]?.details ?? []) }
    }
  }

  /// Fetches items from the storage, and caches those that may be cached.
  ///
  /// - Parameters:
  ///   - keys: The keys of the items.
  ///   - details: The details to fetch.
  ///   - lifetime: The time for which the items are cached, or `nil` for as long as they stay the same.
  ///   - body: The fetch.
  /// - Returns: The found items, by key.
  /// - Throws: The error of the fetch.
  func fetch(
    _ keys: [ItemKey], _ details: ItemQuery.Details, for lifetime: @autoclosure () -> Duration?,
    _ body: @autoclosure () async throws(SecureStorageError) -> [ItemKey: SecureItem]
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let fetch = state.withLock { state -> Int? in
      guard state.isObserved else { return nil }
      state.nextFetch += 1
      state.fetches[state.nextFetch] = Set(keys.filter { !state.isWritten($0) })
      return state.nextFetch
    }
    guard let fetch else { return try await body() }
    do throws(SecureStorageError) {
      let found = try await body()
      // Who the keyring is, is known only now.
      end(fetch, keys, details, found, for: lifetime())
      return found
    } catch {
      state.withLock { $0.fetches[fetch] = nil }
      throw error
    }
  }

  private func end(
    _ fetch: Int, _ keys: [ItemKey], _ details: ItemQuery.Details, _ found: [ItemKey: SecureItem],
    for lifetime: Duration?
  ) {
    // `Task.sleep` doesn't accept the longest durations.
    let lifetime = lifetime.map { min($0, .seconds(1 << 30)) }
    let end = lifetime.map { CoarseTime.now.advanced(by: $0 - CoarseTime.longestDelay) }
    let removal = lifetime.map { ContinuousClock.now + $0 }
    let mustExpire = state.withLock { state in
      let current = state.fetches.removeValue(forKey: fetch) ?? []
      let others = Array(state.fetches.keys)
      for key in keys {
        if current.contains(key) {
          if state.entries.count >= Self.mostEntries { state.entries = [:] }
          state.entries[key] = Entry(
            item: found[key], details: details, fetch: fetch, end: end, removal: removal)
          for other in others { state.fetches[other]?.remove(key) }
        } else if let entry = state.entries[key] {
          let common = entry.details.intersection(details)
          // It isn't known which of them is newer.
          if entry.item?.selecting(common) != found[key]?.selecting(common) { state.forget(key) }
        }
      }
      return end != nil && !exchange(&state.isExpiring, with: true)
    }
    if mustExpire { expire() }
  }

  /// Removes each entry when it expires, as long as there are such entries.
  private func expire() {
    // An expired entry isn't used. It only stays until the next fetch.
    if Shortage.beforeDispatch() != nil { return state.withLock { $0.isExpiring = false } }
    // Nothing holds the task, so its sleep is never cancelled.
    Task.detached { [weak self] in
      while let time = self?.removeExpired() { try? await Task.sleep(for: time) }
    }
  }

  /// Removes the expired entries, and returns the time until the next one expires.
  private func removeExpired() -> Duration? {
    let now = ContinuousClock.now
    return state.withLock { state in
      state.entries = state.entries.filter { $1.removal.map { $0 > now } ?? true }
      let next = state.entries.values.compactMap(\.removal).min()
      state.isExpiring = next != nil
      return next.map { max(now.duration(to: $0), .milliseconds(1)) }
    }
  }

  // MARK: - Writing

  /// Runs a write, and keeps items that are fetched at the same time out of the cache.
  func whileWriting<Result>(
    _ key: ItemKey?, _ body: @autoclosure () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    begin(key)
    defer { end(key) }
    return try await body()
  }

  private func begin(_ key: ItemKey?) {
    state.withLock { state in
      state.writes.append(key)
      state.forget(key)
    }
  }

  private func end(_ key: ItemKey?) {
    state.withLock { state in
      if let index = state.writes.firstIndex(of: key) { state.writes.remove(at: index) }
      state.forget(key)
    }
  }

  // MARK: - Observing

  /// Applies an event of the storage.
  private func receive(_ event: StorageEvent) {
    state.withLock { state in
      switch event {
      case .interrupted, .resumed: state.isConnected = event == .resumed
      case .changing(let key): state.changes.append(key)
      case .settled(let key):
        if let index = state.changes.firstIndex(of: key) { state.changes.remove(at: index) }
      default: break
      }
      state.forget(event)
    }
    KeyringEvent.report(event.key == nil ? .cacheEmptied : nil)
  }

  /// Removes the items that an event may have changed.
  func forget(_ event: StorageEvent) { state.withLock { $0.forget(event) } }

  /// Removes the item with a key, or all items if the key is `nil`.
  func forget(_ key: ItemKey?) { state.withLock { $0.forget(key) } }

  /// Observes the storage, unless it's already observed or the last attempt has just failed.
  ///
  /// The cache stays empty up to a successful attempt.
  ///
  /// - Parameters:
  ///   - storage: The storage to observe.
  ///   - operation: The operation that needs the observation.
  /// - Throws: The error of the storage, for an observation, and after an attempt so long that a read would take twice
  ///   as long. A read of a ``LayeredStorage`` is tried in any case, because another layer may have the item.
  func observe(
    _ storage: some ObservableStorage, for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) {
    let mustStart = state.withLock { state in
      guard case .none(let retry) = state.observation, retry.map({ $0 <= .now }) ?? true else {
        return false
      }
      state.observation = .starting
      state.isConnected = true
      state.changes = []
      return true
    }
    guard mustStart else { return }
    let start = ContinuousClock.now
    do throws(SecureStorageError) {
      let observation = try await storage.observeForLibraryWithoutBlocking(nil) {
        [weak self] event in
        self?.receive(event)
      }
      state.withLock { $0.observation = .active(observation) }
    } catch {
      let time = start.duration(to: .now)
      // The read that starts an attempt waits for it. A long pause keeps this rare.
      let pause = max(Self.retryInterval, time * 5)
      state.withLock { $0.observation = .none(retry: .now + pause) }
      if operation == .observe { throw error.during(operation) }
      // A storage that only can't be observed can be read.
      let hasTakenLong = time > Self.retryInterval
      let isUnreachable = hasTakenLong && [.connectionLost, .noProvider].contains(error.code)
      if isUnreachable || error.code == .timedOut, !(storage is LayeredStorage) {
        throw error.during(operation)
      }
    }
  }
}
