// SPDX-License-Identifier: Apache-2.0

public import Keyring
internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

/// A storage that wraps another one, fails, waits, or is slow on demand, and records its calls without
/// secrets.
///
/// A fault applies to the calls after it. If several faults match a call, it waits for those that wait, and
/// then fails as the first one says.
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
public final class FaultyStorage: AsynchronousStorage, ObservableStorage {
  private struct State: Sendable {
    var calls: [StorageCall] = []
    var faults: [Fault] = []
  }

  private let storage: any SecureStorage
  private let state = Mutex(State())

  /// Creates a storage that injects faults into the calls of another storage.
  ///
  /// - Parameter storage: The storage to wrap. The default is an empty `InMemoryStorage`.
  public init(_ storage: any SecureStorage = InMemoryStorage()) {
    self.storage = storage
  }

  /// The name of the wrapped storage.
  public var backendName: String { storage.backendName }

  /// The limit of the wrapped storage.
  public var secretByteLimit: Int { storage.secretByteLimit }

  /// The promise of the wrapped storage.
  public var durability: StorageDurability { storage.durability }

  /// The promise of the wrapped storage.
  public var readsOneVersion: Bool { storage.readsOneVersion }

  // MARK: - Recorded calls

  /// The calls so far, including those that failed.
  ///
  /// ```swift
  /// #expect(storage.calls.map(\.operation) == [.read, .save])
  /// ```
  public var calls: [StorageCall] { state.withLock { $0.calls } }

  /// Returns the number of calls of an operation so far.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The number of calls.
  public func count(of operation: SecureStorageError.Operation) -> Int {
    calls.count { $0.operation == operation }
  }

  /// Forgets the calls so far.
  public func forgetCalls() { state.withLock { $0.calls = [] } }

  // MARK: - Faults

  /// Makes the calls of an operation fail before they reach the wrapped storage.
  ///
  /// ```swift
  /// storage.fail(.save, with: .locked)
  /// storage.fail(.read, with: .timedOut, onCall: 2)
  /// ```
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - code: The code of the error.
  ///   - number: The number of the only call of this operation that fails, counted from 1 and from now on.
  ///     By default, every call fails.
  public func fail(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code,
    onCall number: Int? = nil
  ) {
    fail(operation, with: code, number: number, afterwards: false)
  }

  /// Makes the calls of an operation fail after they have done their work.
  ///
  /// This happens, for example, if a connection is lost before the reply arrives.
  ///
  /// ```swift
  /// storage.failAfterCompletion(.save, with: .connectionLost)  // stored, and an error nevertheless
  /// ```
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - code: The code of the error.
  ///   - number: The number of the only call of this operation that fails, counted from 1 and from now on.
  ///     By default, every call fails.
  public func failAfterCompletion(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code,
    onCall number: Int? = nil
  ) {
    fail(operation, with: code, number: number, afterwards: true)
  }

  /// Makes calls fail before they reach the wrapped storage, according to a rule.
  ///
  /// ```swift
  /// storage.fail { call in call.keys.contains(key) ? storage.error(.locked, during: call.operation) : nil }
  /// ```
  ///
  /// - Parameter rule: The closure to call with each call. It returns the error to throw, or `nil` to let
  ///   the call pass.
  public func fail(where rule: @escaping @Sendable (StorageCall) -> SecureStorageError?) {
    add(Fault(effect: .fail(rule, afterwards: false)))
  }

  /// Makes the calls of an operation wait at a gate.
  ///
  /// ```swift
  /// let gate = storage.suspend(.save)
  /// async let saving: Void = settings.$authToken.write("new")
  /// await gate.waitForCall()
  /// gate.open()
  /// ```
  ///
  /// - Parameter operation: The operation, or `nil` for all operations.
  /// - Returns: The gate, which tells when a call waits and lets it pass.
  public func suspend(_ operation: SecureStorageError.Operation? = nil) -> CallGate {
    let gate = CallGate()
    add(Fault(operation: operation, effect: .suspend(gate)))
    return gate
  }

  /// Makes the calls of an operation slow.
  ///
  /// - Parameters:
  ///   - operation: The operation, or `nil` for all operations.
  ///   - duration: The additional time that each call takes.
  public func delay(_ operation: SecureStorageError.Operation? = nil, by duration: Duration) {
    add(Fault(operation: operation, effect: .delay(duration)))
  }

  /// Removes all faults and lets waiting calls pass.
  public func reset() {
    let faults = state.withLock { exchange(&$0.faults, with: []) }
    for fault in faults {
      if case .suspend(let gate) = fault.effect { gate.open() }
    }
  }

  private func fail(
    _ operation: SecureStorageError.Operation, with code: SecureStorageError.Code, number: Int?,
    afterwards: Bool
  ) {
    // The fault must not retain this storage, which has the name of the wrapped one.
    let effect = Fault.Effect.fail(
      { [storage] in storage.error(code, during: $0.operation) }, afterwards: afterwards)
    add(Fault(operation: operation, number: number, effect: effect))
  }

  private func add(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }

  // MARK: - The storage

  /// Stores an item, unless a fault makes the call fail.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try await pass(
      StorageCall(.save, keys: [item.key], mode: mode), await storage.save(item, mode: mode))
  }

  /// Returns the items that match a query, unless a fault makes the call fail.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await pass(
      StorageCall(.read, keys: query.keys, query: query), await storage.items(matching: query))
  }

  /// Returns the items stored under several keys in one call, unless a fault makes the call fail.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await pass(StorageCall(.read, keys: keys), await storage.items(for: keys, details: details))
  }

  /// Removes the items that match a query, unless a fault makes the call fail.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await pass(
      StorageCall(.remove, keys: query.keys, query: query),
      await storage.removeItems(matching: query))
  }

  /// Waits for a turn of the wrapped storage, unless a fault makes the call fail.
  ///
  /// What the turn finds, stores and removes are calls, too.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    var taken: (any ItemTurn)?
    func take() async throws(SecureStorageError) -> any ItemTurn {
      let turn = try await storage.takeTurnWithoutBlocking(
        for: key, details: details, timeout: timeout)
      taken = turn
      return turn
    }
    do throws(SecureStorageError) {
      let turn = try await pass(StorageCall(.takeTurn, keys: [key]), await take())
      return FaultyTurn(turn: turn, storage: self, key: key)
    } catch {
      // Nobody else can end a turn that the caller doesn't get.
      await taken?.end()
      throw error
    }
  }

  private struct FaultyTurn: ItemTurn {
    let turn: any ItemTurn
    let storage: FaultyStorage
    let key: ItemKey

    func item() async throws(SecureStorageError) -> SecureItem? {
      try await storage.pass(StorageCall(.read, keys: [key]), await turn.item())
    }

    func save(
      _ item: SecureItem?, replacing old: SecureItem?
    ) async throws(SecureStorageError) -> Bool {
      try await storage.pass(
        StorageCall(item == nil ? .remove : .save, keys: [key]),
        await turn.save(item, replacing: old))
    }

    func whenLost(_ handler: @escaping @Sendable () -> Void) { turn.whenLost(handler) }

    func end() async { await turn.end() }
  }

  /// Returns the name of the storage that has an item, unless a fault makes the call fail.
  public func originWithoutBlocking(of key: ItemKey) async throws(SecureStorageError) -> String? {
    try await pass(StorageCall(.read, keys: [key]), await storage.origin(of: key))
  }

  /// The time of the wrapped storage.
  public var cacheLifetime: Duration? { (storage as? any ObservableStorage)?.cacheLifetime }

  /// Observes the wrapped storage, unless a fault makes the call fail.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await pass(
      StorageCall(.observe, keys: query?.keys ?? [], query: query),
      await storage.observable().observeWithoutBlocking(query, observer))
  }

  private func pass<Result>(
    _ call: StorageCall, _ body: @autoclosure () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let effects = state.withLock { state in
      state.calls.append(call)
      return state.faults.indices.compactMap { state.faults[$0].effect(on: call) }
    }
    for effect in effects {
      let outcome: Waiter.Outcome? =
        switch effect {
        case .suspend(let gate): await gate.pass()
        case .delay(let duration): await CallGate().pass(after: duration)
        case .fail: nil
        }
      if outcome == .canceled { throw error(.canceled, during: call.operation) }
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

extension ItemQuery {
  fileprivate var keys: [ItemKey] { key.map { [$0] } ?? [] }
}
