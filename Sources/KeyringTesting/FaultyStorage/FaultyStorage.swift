public import KeyringStorage
internal import Synchronization

/// A storage in front of another that fails, waits or is slow when it is told to, and remembers how
/// it was called.
///
/// ```swift
/// @Test func failedSaveIsShown() throws {
///   let storage = FaultyStorage()
///   storage.fail(.save, with: .locked)
///   withSecureStorage(storage) {
///     settings.authToken = "s3cret"
///     #expect(settings.$authToken.failure?.code == .locked)
///   }
///   #expect(storage.calls.map(\.operation) == [.save])
/// }
/// ```
///
/// Faults apply to the calls that come after them; where several fit, all that wait do so, and the
/// first that fails decides. What is recorded of a call never holds a secret.
public final class FaultyStorage: AsynchronousStorage, ObservableStorage {
  private struct State: Sendable {
    var calls: [StorageCall] = []
    var faults: [Fault] = []
  }

  private let storage: any SecureStorage
  private let state = Mutex(State())

  /// Puts the faults that will be asked for in front of a storage.
  ///
  /// - Parameter storage: The storage; by default an empty `InMemoryStorage`.
  public init(_ storage: any SecureStorage = InMemoryStorage()) {
    self.storage = storage
  }

  /// The name of the wrapped storage.
  public var backendName: String { storage.backendName }

  // MARK: - What was called

  /// The calls so far, those that failed too.
  public var calls: [StorageCall] { state.withLock { $0.calls } }

  /// Counts the calls of one operation so far.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: How many calls there were.
  public func count(of operation: SecureStorageError.Operation) -> Int {
    calls.count { $0.operation == operation }
  }

  /// Forgets the calls so far.
  public func forgetCalls() { state.withLock { $0.calls = [] } }

  // MARK: - What goes wrong

  /// Makes the calls of an operation fail before they reach the storage.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - code: The code of the error.
  ///   - number: Only the call of this operation with this number, counted from 1 and from now on;
  ///     by default each.
  public func fail(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code,
    onCall number: Int? = nil
  ) {
    fail(operation, with: code, number: number, afterwards: false)
  }

  /// Makes the calls of an operation fail although they have done what they were to do, as when a
  /// connection is lost before the answer has come.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - code: The code of the error.
  ///   - number: Only the call of this operation with this number, counted from 1 and from now on;
  ///     by default each.
  public func failAfterwards(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code,
    onCall number: Int? = nil
  ) {
    fail(operation, with: code, number: number, afterwards: true)
  }

  /// Makes calls fail before they reach the storage.
  ///
  /// - Parameter rule: Called with each call; the error to throw, or `nil` to let the call pass.
  public func fail(where rule: @escaping @Sendable (StorageCall) -> SecureStorageError?) {
    add(Fault(effect: .fail(rule, afterwards: false)))
  }

  /// Makes the calls of an operation wait until they are let go.
  ///
  /// - Parameter operation: The operation; `nil` for all of them.
  /// - Returns: What tells that a call waits, and lets it go.
  public func hold(_ operation: SecureStorageError.Operation? = nil) -> StorageGate {
    let gate = StorageGate()
    add(Fault(operation: operation, effect: .hold(gate)))
    return gate
  }

  /// Makes the calls of an operation slow.
  ///
  /// - Parameters:
  ///   - operation: The operation; `nil` for all of them.
  ///   - duration: How long each call takes more.
  public func delay(_ operation: SecureStorageError.Operation? = nil, by duration: Duration) {
    add(Fault(operation: operation, effect: .delay(duration)))
  }

  /// Takes all faults away, and lets go the calls that wait.
  public func mend() {
    let faults = state.withLock { state in
      defer { state.faults = [] }
      return state.faults
    }
    for fault in faults {
      if case .hold(let gate) = fault.effect { gate.open() }
    }
  }

  private func fail(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code, number: Int?,
    afterwards: Bool
  ) {
    let backendName = backendName
    add(
      Fault(
        operation: operation, number: number,
        effect: .fail(
          { SecureStorageError(code, operation: $0.operation, backend: backendName) },
          afterwards: afterwards)))
  }

  private func add(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }

  // MARK: - The storage

  /// Stores an item, unless a fault keeps it from being stored.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: What a fault or the wrapped storage throws.
  public func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try await pass(StorageCall(.save, keys: [item.key], mode: mode)) {
      () async throws(SecureStorageError) in
      try await storage.save(item, mode)
    }
  }

  /// Finds items, unless a fault keeps them from being found.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: What a fault or the wrapped storage throws.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await pass(StorageCall(.read, keys: query.keys, query: query)) {
      () async throws(SecureStorageError) in
      try await storage.items(matching: query)
    }
  }

  /// Finds the items stored under keys, in one call, unless a fault keeps them from being found.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: What a fault or the wrapped storage throws.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await pass(StorageCall(.read, keys: keys)) { () async throws(SecureStorageError) in
      try await storage.items(for: keys, details: details)
    }
  }

  /// Removes items, unless a fault keeps them from being removed.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: What a fault or the wrapped storage throws.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await pass(StorageCall(.remove, keys: query.keys, query: query)) {
      () async throws(SecureStorageError) in
      try await storage.removeItems(matching: query)
    }
  }

  /// Observes the wrapped storage, unless a fault keeps it from being observed.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: What to call with every event.
  /// - Returns: A token that ends the observation.
  /// - Throws: What a fault or the wrapped storage throws; `.notObservable` when that cannot tell.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }

  /// Observes the wrapped storage, unless a fault keeps it from being observed.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: What to call with every event.
  /// - Returns: A token that ends the observation.
  /// - Throws: What a fault or the wrapped storage throws; `.notObservable` when that cannot tell.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    try await pass(StorageCall(.observe, keys: query?.keys ?? [], query: query)) {
      () async throws(SecureStorageError) in
      guard let storage = storage as? any ObservableStorage else {
        throw SecureStorageError(.notObservable, operation: .observe, backend: backendName)
      }
      return try await storage.observeWithoutBlocking(query, observer)
    }
  }

  private func pass<Result>(
    _ call: StorageCall, _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let effects = state.withLock { state in
      state.calls.append(call)
      return state.faults.indices.compactMap { state.faults[$0].effect(on: call) }
    }
    for effect in effects {
      switch effect {
      case .hold(let gate): try await gate.pass(call.operation, backendName)
      case .delay(let duration):
        try await StorageGate().pass(call.operation, backendName, after: duration)
      case .fail: break
      }
    }
    var failure: SecureStorageError?
    for case .fail(let rule, let afterwards) in effects {
      guard let error = rule(call) else { continue }
      if !afterwards { throw error }
      failure = failure ?? error
    }
    let result = try await body()
    if let failure { throw failure }
    return result
  }
}

/// A call that a ``FaultyStorage`` has passed on or made to fail; it never holds a secret.
public struct StorageCall: Sendable, Equatable {
  /// What the call was for.
  public let operation: SecureStorageError.Operation
  /// The keys of the items, if the call named them.
  public let keys: [ItemKey]
  /// What was to be found or removed.
  public let query: ItemQuery?
  /// How an item was to be saved.
  public let mode: SaveMode?

  init(
    _ operation: SecureStorageError.Operation, keys: [ItemKey], query: ItemQuery? = nil,
    mode: SaveMode? = nil
  ) {
    (self.operation, self.keys, self.query, self.mode) = (operation, keys, query, mode)
  }
}

extension ItemQuery {
  fileprivate var keys: [ItemKey] { key.map { [$0] } ?? [] }
}

/// What a ``FaultyStorage`` was told to do with calls.
private struct Fault: Sendable {
  enum Effect: Sendable {
    case fail(@Sendable (StorageCall) -> SecureStorageError?, afterwards: Bool)
    case hold(StorageGate)
    case delay(Duration)
  }

  var operation: SecureStorageError.Operation?
  var number: Int?
  let effect: Effect
  private var count = 0

  init(
    operation: SecureStorageError.Operation? = nil, number: Int? = nil, effect: Effect
  ) {
    (self.operation, self.number, self.effect) = (operation, number, effect)
  }

  /// What happens to a call, if it is one of those meant.
  mutating func effect(on call: StorageCall) -> Effect? {
    if let operation, operation != call.operation { return nil }
    count += 1
    return number == nil || number == count ? effect : nil
  }
}
