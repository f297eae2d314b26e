internal import Synchronization

/// What a ``CachedStorage`` keeps: items by key, and that there is none.
///
/// What was fetched is kept only if nothing may have changed it since the fetch began: each fetch is
/// known by its keys until it ends, and what may have changed is taken from them.
final class ItemCache: Sendable {
  private struct Entry: Sendable {
    /// `nil` when there is none.
    var item: SecureItem?
    var details: ItemQuery.Details
    var end: ContinuousClock.Instant?
  }

  private enum Observation: Sendable {
    case none(retry: ContinuousClock.Instant?)
    case starting
    case active(StorageObservation)
  }

  private struct State: Sendable {
    var entries: [ItemKey: Entry] = [:]
    /// The fetches under way, with the keys whose items may be kept.
    var fetches: [Int: Set<ItemKey>] = [:]
    var nextFetch = 0
    /// The keys that are being written, `nil` for any, each as often as it is.
    var writes: [ItemKey?] = []
    var observation = Observation.none(retry: nil)
    var isConnected = true
    /// Whether something waits for the end of an entry's time.
    var isExpiring = false

    var isObserved: Bool {
      if case .active = observation { isConnected } else { false }
    }

    mutating func forget(_ key: ItemKey?) {
      guard let key else {
        entries = [:]
        fetches = [:]
        return
      }
      for other in entries.keys where key.mayShareItem(with: other) { entries[other] = nil }
      for (fetch, keys) in fetches {
        fetches[fetch] = keys.filter { !key.mayShareItem(with: $0) }
      }
    }

    mutating func forget(_ event: StorageEvent) {
      switch event {
      case .changed(let change): forget(change.key)
      case .mayHaveChanged(let key): forget(key)
      case .locked, .interrupted, .resumed: forget(nil)
      }
    }

    func isWritten(_ key: ItemKey) -> Bool {
      writes.contains { $0.map(key.mayShareItem) ?? true }
    }
  }

  /// More than any app reads again; then all are forgotten.
  private static let mostEntries = 1000

  private let state = Mutex(State())
  private let lifetime: Duration?

  init(_ lifetime: Duration?) { self.lifetime = lifetime }

  // MARK: - Reading

  /// What is known of an item.
  ///
  /// - Returns: The item, `.some(nil)` when there is none, `nil` when that is not known.
  func find(_ key: ItemKey, _ details: ItemQuery.Details) -> SecureItem?? {
    find(key, details) { entry in
      details == entry.details ? entry.item : entry.item?.limited(to: details)
    }
  }

  /// The secret of an item; `nil` when it is not known, or there is none.
  func findSecret(_ key: ItemKey) -> Secret? { find(key, .secret) { $0.item?.secret } ?? nil }

  private func find<Part: Sendable>(
    _ key: ItemKey, _ details: ItemQuery.Details, _ part: (inout Entry) -> Part?
  ) -> Part?? {
    state.withLock { state in
      if lifetime != nil, let end = state.entries[key]?.end, end <= .now {
        state.entries[key] = nil
      }
      return state.entries.withValue(for: key) { entry -> Part?? in
        if case .some = entry.item, !details.isSubset(of: entry.details) { return nil }
        return .some(part(&entry))
      } ?? nil
    }
  }

  /// What to fetch of items: also what is known of them, so that the whole is of one moment.
  func detailsToFetch(
    _ keys: [ItemKey], _ details: ItemQuery.Details
  ) -> ItemQuery.Details {
    state.withLock { state in
      keys.reduce(into: details) { $0.formUnion(state.entries[$1]?.details ?? []) }
    }
  }

  /// Fetches items from the storage, and keeps what may be kept.
  func fetch(
    _ keys: [ItemKey], _ details: ItemQuery.Details,
    _ body: () async throws(SecureStorageError) -> [ItemKey: SecureItem]
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
      end(fetch, details, found)
      return found
    } catch {
      state.withLock { $0.fetches[fetch] = nil }
      throw error
    }
  }

  private func end(_ fetch: Int, _ details: ItemQuery.Details, _ found: [ItemKey: SecureItem]) {
    let end = lifetime.map { ContinuousClock.now + $0 }
    let mustExpire = state.withLock { state in
      for key in state.fetches.removeValue(forKey: fetch) ?? [] {
        if state.entries.count >= Self.mostEntries { state.entries = [:] }
        state.entries[key] = Entry(item: found[key], details: details, end: end)
      }
      defer { state.isExpiring = state.isExpiring || end != nil }
      return end != nil && !state.isExpiring
    }
    if mustExpire { expire() }
  }

  /// Forgets each entry when its time is over, for as long as there are any.
  private func expire() {
    // Nobody has the task, to cancel its sleep.
    Task.detached { [weak self] in
      while let end = self?.nextEnd() { try? await Task.sleep(until: end) }
    }
  }

  /// Forgets the entries whose time is over; when the next one's is.
  private func nextEnd() -> ContinuousClock.Instant? {
    state.withLock { state in
      state.entries = state.entries.filter { $1.end.map { $0 > .now } ?? true }
      let next = state.entries.values.compactMap(\.end).min()
      state.isExpiring = next != nil
      return next
    }
  }

  // MARK: - Writing

  /// Runs something that writes: what is under way meanwhile is not kept.
  func whileWriting<Result>(
    _ key: ItemKey?, _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    begin(key)
    defer { end(key) }
    return try await body()
  }

  /// Runs something that writes: what is under way meanwhile is not kept.
  func whileWriting<Result>(
    _ key: ItemKey?, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    begin(key)
    defer { end(key) }
    return try body()
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

  /// Takes over what the storage tells of.
  private func receive(_ event: StorageEvent) {
    state.withLock { state in
      if event == .interrupted || event == .resumed { state.isConnected = event == .resumed }
      state.forget(event)
    }
  }

  /// Forgets what may not be so any more.
  func forget(_ event: StorageEvent) { state.withLock { $0.forget(event) } }

  /// Forgets the item with a key, or all.
  func forget(_ key: ItemKey?) { state.withLock { $0.forget(key) } }

  /// Observes the storage, unless that is done or was just tried in vain: then nothing is kept.
  ///
  /// - Throws: Only that the storage's time was used up, so that there is none left for a read.
  func observe(_ storage: some ObservableStorage) async throws(SecureStorageError) {
    let mustStart = state.withLock { state in
      guard case .none(let retry) = state.observation, retry.map({ $0 <= .now }) ?? true else {
        return false
      }
      state.observation = .starting
      state.isConnected = true
      return true
    }
    guard mustStart else { return }
    do throws(SecureStorageError) {
      let observation = try await storage.observeWithoutBlocking(nil) { [weak self] event in
        self?.receive(event)
      }
      state.withLock { $0.observation = .active(observation) }
    } catch {
      state.withLock { $0.observation = .none(retry: .now + .seconds(1)) }
      guard error.code == .timedOut else { return }
      var error = error
      error.operation = .read
      throw error
    }
  }
}

extension ItemKey {
  /// Whether one item may be found under both keys: another program's is where it has all parts.
  fileprivate func mayShareItem(with other: ItemKey) -> Bool {
    attributes.allSatisfy { name, value in other.attributes[name]?.isExactly(value) ?? true }
  }
}
