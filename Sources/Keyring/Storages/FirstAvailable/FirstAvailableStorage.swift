// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

/// A storage that uses the first available of several storages, and then always the same one.
///
/// The first operation selects the first storage that works, without writing or asking. The selection lasts as
/// long as this value, and a ``SelectionMemory`` keeps it for later runs, as <doc:ServersAndContainers> describes.
///
/// ```swift
/// SecureStorageDefaults.storage = FirstAvailableStorage([SecretServiceStorage(), myStorage])
/// ```
public struct FirstAvailableStorage: AsynchronousStorage, ObservableStorage {
  /// The state that all copies share.
  final class Decision: Sendable {
    struct State {
      var selection: Selection?
      /// Whether the selection is remembered, so that stored items are found again.
      var isRemembered = false
      /// Whether it was reported that another storage is available.
      var isTold = false
      /// The number of times a selection was forgotten, which a selection in progress compares.
      var generation = 0

      mutating func forget() { self = State(generation: generation + 1) }
    }

    let state = Mutex(State())
    /// The observers of the selected storage, who learn only that it isn't selected any more.
    let observers = ObserverList()

    func forget() {
      state.withLock { $0.forget() }
      observers.report(.interrupted)
    }
  }

  let storages: [any SecureStorage]
  /// The names under which the storages are remembered.
  let names: [String]
  let memory: SelectionMemory
  let handler: (@Sendable (Selection) -> Void)?
  let decision = Decision()

  /// Creates a storage that selects one of several storages at its first operation.
  ///
  /// - Parameters:
  ///   - storages: The storages to select from, in order of preference.
  ///   - memory: The memory for the selection. By default it's a file in the user's home, under the name of
  ///     the executable.
  ///   - handler: A closure that is called once if a storage before the current one becomes available. The
  ///     thread or task of the operation that notices this calls it. It must not use this storage. By
  ///     default, a line is written to standard error.
  public init(
    _ storages: [any SecureStorage], remembering memory: SelectionMemory = .program(),
    whenAnotherAppears handler: (@Sendable (Selection) -> Void)? = nil
  ) {
    self.storages = storages
    self.memory = memory
    self.handler = handler
    var names: [String] = []
    var counts: [String: Int] = [:]
    for storage in storages {
      let name = storage.backendName.inOneLine
      let count = counts[name, default: 0] + 1
      counts[name] = count
      names.append(count == 1 ? name : "\(name) \(count)")
    }
    self.names = names
  }

  /// The limit of the selected storage, or the largest one if none is selected yet.
  public var secretByteLimit: Int {
    let limits = storages.map(\.secretByteLimit)
    let index = decision.state.withLock { $0.selection?.index }
    return index.map { limits[$0] } ?? limits.max() ?? ItemLimits.secretBytes
  }

  /// The promise of the selected storage, or the smallest one if none is selected yet.
  public var durability: StorageDurability {
    let promises = storages.map(\.durability)
    let index = decision.state.withLock { $0.selection?.index }
    return index.map { promises[$0] } ?? promises.min() ?? .afterRestart
  }

  /// The promise of the selected storage, or of all storages if none is selected yet.
  public var readsOneVersion: Bool {
    let selected = decision.state.withLock { $0.selection?.storage }
    return selected?.readsOneVersion ?? storages.allSatisfy(\.readsOneVersion)
  }

  /// The selected storage and the reasons for it; "FirstAvailableStorage" before there is one.
  public var backendName: String {
    decision.state.withLock { $0.selection }?.description ?? "FirstAvailableStorage"
  }

  // MARK: - The storage

  /// Stores an item in the selected storage.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await perform(.save, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.save(item, mode: mode)
    }
  }

  /// Returns the items of the selected storage that match a query.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(matching: query)
    }
  }

  /// Returns the items stored under keys in the selected storage.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(for: keys, details: details)
    }
  }

  /// Removes the items that match a query from the selected storage.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await perform(.remove, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.removeItems(matching: query)
    }
  }

  /// Returns the name of the storage that has an item, as reported by the selected storage.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.origin(of: key)
    }
  }

  /// The time of the selected storage, and a minute before a storage is selected.
  public var cacheLifetime: Duration? {
    let selected = decision.state.withLock { $0.selection?.storage }
    guard let storage = selected as? any ObservableStorage else { return .cacheLifetime }
    return storage.cacheLifetime
  }

  /// Calls a closure with every event of the selected storage.
  ///
  /// After another storage is selected, the closure gets `.interrupted`, and no further event. Observe the
  /// storage again then.
  ///
  /// - Parameters:
  ///   - query: The items whose changes are reported by key.
  ///   - observer: The closure to call.
  /// - Returns: The subscription, which ends when it's released, if not before.
  /// - Throws: `.notObservable` if the selected storage can't report changes, the errors of the selected
  ///   storage, or an error if no storage can be selected.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    let generation = decision.state.withLock { $0.generation }
    // For the observer, the selection is a source of events, too. Once it's interrupted, it stays so.
    let events = ObserverList()
    let own = events.add(observer)
    let observation = try await perform(.observe) { (storage) async throws(SecureStorageError) in
      try await storage.observable()
        .observeForLibraryWithoutBlocking(query) { events.report($0, from: 0) }
    }
    let selection = decision.observers.addForLibrary { events.report($0, from: 1) }
    if decision.state.withLock({ $0.generation }) != generation {
      events.report(.interrupted, from: 1)
    }
    return StorageSubscription {
      own.cancel()
      selection.cancel()
      observation.cancel()
    }
  }

  private func perform<Result>(
    _ operation: SecureStorageError.Operation, writing: Bool = false,
    _ body: (any SecureStorage) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let selection =
      try await writing ? selectionForWriting(for: operation) : selection(for: operation)
    do throws(SecureStorageError) {
      return try await body(selection.storage)
    } catch {
      var error = error
      error.backendName = selection.description
      throw error
    }
  }
}
