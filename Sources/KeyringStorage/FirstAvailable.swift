internal import Synchronization

/// The first of several storages that can be used on this machine.
///
/// ```swift
/// SecureStorageDefaults.storage = FirstAvailable([SecretServiceStorage(), myStorage])
/// ```
///
/// The first operation asks the storages one after the other what ``SecureStorage/diagnose(writing:)``
/// finds in the way of saving an item: nobody is asked and nothing is changed for that. The first
/// storage that is there is chosen, and stays chosen for as long as this value and its copies exist:
///
/// - A storage is passed over that cannot have any of the secrets: `.noSessionBus`, `.noProvider`,
///   `.noDefaultCollection`, `.collectionNotFound`, and `.noStorage`, which stands for the rest: no file
///   and none that could be made, nothing that the program was given, a sandbox without the keyring.
/// - One that is locked is there. It is chosen, and its operations fail with `.locked`, or ask the user.
///   Whoever declines is not asked by another storage.
/// - One that may have them and cannot be used chooses nothing: a file that is damaged, or another
///   user's (`.accessDenied`), or whose key is missing. The operation throws it, and the next one asks
///   anew: the program must not begin with another storage while its secrets are in this one.
/// - So does what leaves the answer open, such as a keyring that does not answer in time or a task that
///   is cancelled: an item must not end up in one place or the other by how busy the machine is.
/// - A ``ReadOnlyStorage`` is chosen when there is something to read, and so is a file that can be read
///   where nothing can be written; saving fails then.
///
/// What was chosen and why not another is told by `choice()`, and by the name of the storage in every
/// error, which is also what a failure handler is given. Put no storage in the list that is not safe to
/// use: which one is chosen is up to the machine.
public struct FirstAvailable: ObservableStorage {
  /// Which storage was chosen, and why those before it were not.
  public struct Choice: Sendable, CustomStringConvertible {
    /// The storage that was chosen.
    public let storage: any SecureStorage
    /// Its place in the list, counted from 0.
    public let index: Int
    /// What was found out about the storages before it; each has a failure.
    public let passedOver: [StorageDiagnosis]

    /// The name of the storage, and what each before it failed with, in one line.
    public var description: String {
      let reasons = passedOver.compactMap { diagnosis in
        diagnosis.failure.map { "\(diagnosis.storage) has \($0.code)" }
      }
      let name = storage.backendName
      return reasons.isEmpty ? name : "\(name), as \(reasons.joined(separator: " and "))"
    }
  }

  /// What all copies share.
  private final class Decision: Sendable {
    let choice = Mutex<Choice?>(nil)
  }

  private let storages: [any SecureStorage]
  private let decision = Decision()

  /// Makes a storage that has not chosen yet.
  ///
  /// - Parameter storages: What there is to choose from, the best first.
  public init(_ storages: [any SecureStorage]) {
    self.storages = storages
  }

  /// What was chosen, and why those before it were not; "FirstAvailable" before anything was.
  public var backendName: String {
    decision.choice.withLock { $0 }?.description ?? "FirstAvailable"
  }

  /// Chooses a storage, unless that was done before.
  ///
  /// - Returns: The storage, and why those before it were not chosen.
  /// - Throws: `.noStorage` when none is there, with the reason of each; or what left open whether one
  ///   is there.
  public func choice() throws(SecureStorageError) -> Choice { try choice(for: .read) }

  /// Chooses a storage, unless that was done before, without blocking the task's thread.
  ///
  /// - Returns: The storage, and why those before it were not chosen.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled.
  public func choice() async throws(SecureStorageError) -> Choice {
    try await offThread(.read) { () throws(SecureStorageError) in try choice() }
  }

  // MARK: - The storage

  /// Stores an item in the storage that was chosen.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try perform(.save) { (storage) throws(SecureStorageError) in try storage.save(item, mode) }
  }

  /// Finds items in the storage that was chosen.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try perform(.read) { (storage) throws(SecureStorageError) in try storage.items(matching: query)
    }
  }

  /// Finds the item stored under a key in the storage that was chosen.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try perform(.read) { (storage) throws(SecureStorageError) in
      try storage.item(for: key, details: details)
    }
  }

  /// Finds the secret stored under a key in the storage that was chosen.
  ///
  /// - Parameter key: The key to look for.
  /// - Returns: The secret, or `nil` when there is no item.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    try perform(.read) { (storage) throws(SecureStorageError) in try storage.secret(for: key) }
  }

  /// Finds the items stored under keys in the storage that was chosen.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: What the storage throws, or that none could be chosen.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try perform(.read) { (storage) throws(SecureStorageError) in
      try storage.items(for: keys, details: details)
    }
  }

  /// Removes items from the storage that was chosen.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were removed.
  /// - Throws: What the storage throws, or that none could be chosen.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try perform(.remove) { (storage) throws(SecureStorageError) in
      try storage.removeItems(matching: query)
    }
  }

  /// Has a closure called with everything that happens to the items of the storage that was chosen.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: Called on any thread; it returns at once, and does not use the storage.
  /// - Returns: What ends it, at the latest when it is released.
  /// - Throws: `.notObservable` when the storage that was chosen cannot tell of changes, what it throws
  ///   itself, or that none could be chosen.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try perform(.observe) { (storage) throws(SecureStorageError) in
      guard let storage = storage as? any ObservableStorage else {
        throw SecureStorageError(
          .notObservable, operation: .observe, backend: storage.backendName)
      }
      return try storage.observe(query, observer)
    }
  }

  /// Finds out what each of the storages would do here, and which of them is chosen; a choice that has
  /// not been made is not made by this either.
  ///
  /// - Parameter writing: Whether an item is stored in the chosen one, read and removed again.
  /// - Returns: The findings of all storages, and the failure of the chosen one.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "FirstAvailable")
    let made = decision.choice.withLock { $0 }
    var examined = storages.map { $0.diagnose() }
    let index = made?.index ?? examined.firstIndex { !$0.isUnavailable }
    if writing, let index { examined[index] = storages[index].diagnose(writing: true) }
    for member in examined { diagnosis.add(member) }
    guard let index else {
      diagnosis.add("choice", noStorage(examined, .diagnose))
      return diagnosis
    }
    let choice = Choice(
      storage: storages[index], index: index,
      passedOver: made?.passedOver ?? Array(examined[..<index]))
    if made == nil, !examined[index].isThere, let failure = examined[index].failure {
      diagnosis.add("choice", failure)
      return diagnosis
    }
    let isFirst = choice.passedOver.isEmpty
    diagnosis.add(
      "choice", "\(choice).", advice: isFirst ? nil : "If you want another, see to what it lacks.")
    diagnosis.failure = examined[index].failure
    return diagnosis
  }

  // MARK: - Choosing

  private func perform<Result>(
    _ operation: SecureStorageError.Operation,
    _ body: (any SecureStorage) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    let choice = try choice(for: operation)
    do throws(SecureStorageError) {
      return try body(choice.storage)
    } catch {
      var error = error
      error.backend = choice.description
      throw error
    }
  }

  private func choice(
    for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> Choice {
    if let choice = decision.choice.withLock({ $0 }) { return choice }
    let found = try examine(operation)
    // Of threads that have asked at the same time, the first decides for all.
    return decision.choice.withLock { choice in
      choice = choice ?? found
      return choice ?? found
    }
  }

  private func examine(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> Choice {
    var passedOver: [StorageDiagnosis] = []
    for (index, storage) in storages.enumerated() {
      if CancellationSignal.current?.isCancelled == true {
        throw SecureStorageError(.canceled, operation: operation, backend: backendName)
      }
      let diagnosis = storage.diagnose()
      if diagnosis.isThere {
        return Choice(storage: storage, index: index, passedOver: passedOver)
      }
      guard diagnosis.isUnavailable else {
        var failure = diagnosis.failure ?? noStorage([diagnosis], operation)
        failure.operation = operation
        throw failure
      }
      passedOver.append(diagnosis)
    }
    throw noStorage(passedOver, operation)
  }

  private func noStorage(
    _ diagnoses: [StorageDiagnosis], _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    let failures = diagnoses.compactMap { diagnosis in
      diagnosis.failure.map { (name: diagnosis.storage, failure: $0) }
    }
    let reasons = failures.map { "\($0.name): \($0.failure.message)" }
    let advice = failures.map { "\($0.name): \($0.failure.advice)" }
    return SecureStorageError(
      .noStorage, operation: operation, backend: "FirstAvailable",
      message: (["No storage can be used here."] + reasons).joined(separator: " "),
      advice: advice.isEmpty ? "Name at least one." : advice.joined(separator: " "))
  }
}

extension StorageDiagnosis {
  private static let absences: Set<SecureStorageError.Code> = [
    .noSessionBus, .noProvider, .noDefaultCollection, .collectionNotFound, .noStorage,
  ]

  /// The failures of a storage that has what the program has stored there, if it has stored anything.
  private static let hindrances: Set<SecureStorageError.Code> = [.locked, .userCanceled, .readOnly]

  /// Whether the storage could be used, perhaps after somebody has unlocked it, or only to read.
  fileprivate var isThere: Bool { failure.map { Self.hindrances.contains($0.code) } ?? true }

  /// Whether it is certain that the storage has none of the program's secrets, and can have none.
  package var isUnavailable: Bool { failure.map { Self.absences.contains($0.code) } ?? false }
}
