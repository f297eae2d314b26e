/// A move of secrets into a storage: from another storage, or from where they are plaintext.
///
/// ```swift
/// let migration = Migration(
///   of: [
///     .password("API_TOKEN", as: .password(service: "org.example.app", account: "token")),
///   ],
///   from: .environmentFile("/home/me/.config/app/.env"), to: SecretServiceStorage())
/// try migration.run()
/// ```
///
/// Everything is read and checked before anything is written, and the source loses nothing before
/// all of it was read back from the destination. A migration that failed, or whose program was
/// killed, is run again: it goes on where it ended, and does nothing when there is nothing to do.
public struct Migration: Sendable {
  private let legs: [MigrationLeg]
  private let progress: @Sendable (Progress) -> Void

  /// Plans to move the items that a query selects to another storage, under the same keys.
  ///
  /// - Parameters:
  ///   - query: Which items; what of them to fetch does not matter.
  ///   - source: Where they are.
  ///   - destination: Where they go to.
  ///   - progress: Called during the run, on its thread.
  public init(
    of query: ItemQuery, from source: any SecureStorage, to destination: any SecureStorage,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    let source = StorageSource(storage: source, selection: .query(query))
    self.init([MigrationLeg(from: source, to: destination)], progress)
  }

  /// Plans to move the items with these keys to another storage, as many as there are.
  ///
  /// - Parameters:
  ///   - keys: The keys of the items.
  ///   - source: Where they are.
  ///   - destination: Where they go to.
  ///   - progress: Called during the run, on its thread.
  public init(
    of keys: [ItemKey], from source: any SecureStorage, to destination: any SecureStorage,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    let source = StorageSource(storage: source, selection: .keys(keys))
    self.init([MigrationLeg(from: source, to: destination)], progress)
  }

  /// Plans to move plaintext values to a storage, as many of them as there are.
  ///
  /// - Parameters:
  ///   - items: The values, and the items that they become.
  ///   - source: Where the values are.
  ///   - destination: Where they go to.
  ///   - progress: Called during the run, on its thread.
  public init(
    of items: [PlaintextItem], from source: Plaintext, to destination: any SecureStorage,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    self.init([(items, destination)], from: source, progress: progress)
  }

  /// Plans to move plaintext values to several storages, all of them or none.
  ///
  /// - Parameters:
  ///   - parts: The values, and where they go to.
  ///   - source: Where the values are.
  ///   - progress: Called during the run, on its thread.
  package init(
    _ parts: [(items: [PlaintextItem], destination: any SecureStorage)], from source: Plaintext,
    progress: @escaping @Sendable (Progress) -> Void
  ) {
    let legs = parts.indices.map { index in
      let others = parts.indices.filter { $0 != index }.flatMap { parts[$0].items.map(\.path) }
      return MigrationLeg(
        from: PlaintextSource(
          store: source.store, plans: parts[index].items, otherPaths: Set(others)),
        to: parts[index].destination)
    }
    self.init(legs, progress)
  }

  private init(_ legs: [MigrationLeg], _ progress: @escaping @Sendable (Progress) -> Void) {
    (self.legs, self.progress) = (legs, progress)
  }

  /// Moves the items, or goes on with a move that has not come to its end.
  ///
  /// An item that the destination has already, with the same secret and attributes, is not written
  /// again. One that is not in the source is skipped.
  ///
  /// - Returns: How many items were in the source, and are now in the destination only.
  /// - Throws: `.itemAlreadyExists`, naming the key, when the destination has a different value;
  ///   `.undecodable` when a plaintext value is not what was asked for; both, like every reason for
  ///   not reading something, before anything was written. `.verificationFailed` when the
  ///   destination does not give back what was written, and `.sourceChanged` when somebody has
  ///   written to the source meanwhile: the source is whole then. Or whatever kept an item from
  ///   being stored or removed.
  @discardableResult
  public func run() throws(SecureStorageError) -> Int {
    var legs = legs
    for index in legs.indices { try legs[index].read() }
    try perform(.checking, &legs) { (leg, done) throws(SecureStorageError) in
      try leg.check(done)
    }
    try perform(.writing, &legs) { (leg, done) throws(SecureStorageError) in try leg.write(done) }
    try perform(.verifying, &legs) { (leg, done) throws(SecureStorageError) in
      try leg.verify(done)
    }
    try perform(.removing, &legs) { (leg, done) throws(SecureStorageError) in
      try leg.remove(done)
    }
    return legs.itemCount
  }

  /// Moves the items without blocking the task's thread.
  ///
  /// - Returns: How many items were in the source, and are now in the destination only.
  /// - Throws: What the synchronous operation throws, and `.canceled` when the task is cancelled:
  ///   run it again then to finish it.
  @discardableResult
  public func run() async throws(SecureStorageError) -> Int {
    guard let first = legs.first else { return 0 }
    return try await first.destination.blocking(.migrate) { () throws(SecureStorageError) in
      try run()
    }
  }

  private func perform(
    _ phase: Phase, _ legs: inout [MigrationLeg],
    _ step: (inout MigrationLeg, _ done: () -> Void) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    if CancellationSignal.isCurrentCancelled {
      throw SecureStorageError(.canceled, operation: .migrate, backend: "Migration")
    }
    var state = Progress(phase: phase, completed: 0, total: legs.itemCount)
    progress(state)
    for index in legs.indices {
      try step(&legs[index]) {
        state.completed += 1
        progress(state)
      }
    }
  }
}

extension [MigrationLeg] {
  fileprivate var itemCount: Int { reduce(0) { $0 + $1.items.count } }
}
