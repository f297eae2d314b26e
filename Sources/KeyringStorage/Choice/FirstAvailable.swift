internal import Synchronization

/// The first of several storages that can be used on this machine, and from then on the same one.
///
/// ```swift
/// SecureStorageDefaults.storage = FirstAvailable([SecretServiceStorage(), myStorage])
/// ```
///
/// The first operation asks the storages one after the other what ``SecureStorage/diagnose(writing:)``
/// finds in the way of saving an item: nobody is asked and nothing is changed for that. The first
/// storage that is there is chosen, and stays chosen for as long as this value and its copies exist:
///
/// - A storage is passed over that cannot have any of the secrets. The article
///   "Machines without a desktop" has a table of what that is certain of.
/// - One that is locked is there. It is chosen, and its operations fail with `.locked`, or ask the user.
///   Whoever declines is not asked by another storage.
/// - Anything else chooses nothing: a file that is damaged, or another user's; a keyring that is
///   installed and does not start, or does not answer in time. The operation throws it, and the next one
///   asks again: the program must not begin with another storage while its secrets are in this one.
/// - A ``ReadOnlyStorage`` is chosen when there is something to read, and so is a file that can be read
///   where nothing can be written; saving fails then.
///
/// Before the program saves or removes something for the first time, the choice is remembered in a
/// ``ChoiceMemory``, and holds for all later runs:
///
/// - While the storage that is remembered is not there, operations fail with `.chosenStorageMissing`.
///   None goes to another storage.
/// - When another one before it in the list can be used too, such as a keyring that was started late,
///   that is told, and changes nothing: by `choice()`, by `diagnose()`, in each error, and once by a
///   handler or on standard error.
/// - ``choose(_:)`` makes another choice, for good. ``forgetChoice()`` has the next operation choose again.
/// - A ``ReadOnlyStorage`` is what the program was given for this run. It is not remembered, and comes
///   before the storage that is, if it does so in the list: nothing is stored in it, so nothing is split.
///
/// What was chosen and why not another is told by `choice()`, and by the name of the storage in every
/// error, which is also what a failure handler is given. Put no storage in the list that is not safe to
/// use: which one is chosen is up to the machine.
public struct FirstAvailable: AsynchronousStorage, ObservableStorage {
  /// What all copies share.
  final class Decision: Sendable {
    struct State {
      var choice: Choice?
      /// Whether the choice is remembered, so that what is stored is found again.
      var isRemembered = false
      /// Whether it was told that another storage could be used.
      var isTold = false
    }

    let state = Mutex(State())
  }

  let storages: [any SecureStorage]
  /// What the storages are remembered by.
  let names: [String]
  let memory: ChoiceMemory
  let handler: (@Sendable (Choice) -> Void)?
  let decision = Decision()

  /// Makes a storage that has not chosen yet.
  ///
  /// - Parameters:
  ///   - storages: What there is to choose from, the best first.
  ///   - memory: Where the choice is remembered; by default in the user's home, under the name of the
  ///     executable.
  ///   - handler: Called once, by the thread or task of the operation that found it out, when a storage before
  ///     the one in use could be used too; by default that is one line on standard error. It does not
  ///     use this storage.
  public init(
    _ storages: [any SecureStorage], remembering memory: ChoiceMemory = .program(),
    whenAnotherAppears handler: (@Sendable (Choice) -> Void)? = nil
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

  /// What was chosen, and why those before it were not; "FirstAvailable" before anything was.
  public var backendName: String {
    decision.state.withLock { $0.choice }?.description ?? "FirstAvailable"
  }

  // MARK: - The storage

  /// Stores an item in the storage that was chosen.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try await perform(.save, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.save(item, mode)
    }
  }

  /// Finds items in the storage that was chosen.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(matching: query)
    }
  }

  /// Finds the items stored under keys in the storage that was chosen.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await perform(.read) { (storage) async throws(SecureStorageError) in
      try await storage.items(for: keys, details: details)
    }
  }

  /// Removes items from the storage that was chosen.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try await perform(.remove, writing: true) { (storage) async throws(SecureStorageError) in
      try await storage.removeItems(matching: query)
    }
  }

  /// Has a closure called with everything that happens to the items of the storage that was chosen.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: Called on any thread; it returns at once, and does not use the storage.
  /// - Returns: A token that ends the observation, at the latest when it is released.
  /// - Throws: `.notObservable` when the storage that was chosen cannot tell of changes, what it throws
  ///   itself, or that none could be chosen.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }

  /// Has a closure called with everything that happens to the items of the storage that was chosen.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: Called on any thread; it returns at once, and does not use the storage.
  /// - Returns: A token that ends the observation, at the latest when it is released.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    try await perform(.observe) { (storage) async throws(SecureStorageError) in
      guard let storage = storage as? any ObservableStorage else {
        throw SecureStorageError(
          .notObservable, operation: .observe, backend: storage.backendName)
      }
      return try await storage.observeWithoutBlocking(query, observer)
    }
  }

  private func perform<Result>(
    _ operation: SecureStorageError.Operation, writing: Bool = false,
    _ body: (any SecureStorage) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let choice = try await writing ? choiceToWrite(for: operation) : choice(for: operation)
    do throws(SecureStorageError) {
      return try await body(choice.storage)
    } catch {
      var error = error
      error.backend = choice.description
      throw error
    }
  }
}
