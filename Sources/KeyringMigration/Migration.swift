// SPDX-License-Identifier: Apache-2.0

public import Keyring
internal import KeyringRuntime
public import KeyringStorage

/// A migration or a copy of secrets to a storage, from another storage or from plaintext.
///
/// Nothing is removed from the source before all of it was read back from the destination. If a migration
/// fails, run it again: it goes on where it stopped.
///
/// ```swift
/// import Keyring
/// import KeyringMigration
/// import KeyringStorage
///
/// let migration = Migration(
///   of: [
///     .password("API_TOKEN", as: .password(service: "org.example.app", account: "token")),
///   ],
///   from: .environmentFile("/home/me/.config/app/.env"), to: SecretServiceStorage())
/// try migration.move()
/// ```
public struct Migration: Sendable {
  private let transfers: [MigrationTransfer]
  private let progress: @Sendable (Progress) -> Void

  /// Creates a migration of the items that match a query, under the same keys.
  ///
  /// Items that are another program's own are left, and named in the outcome. To move one, name its key.
  ///
  /// ```swift
  /// let migration = Migration(of: .service("org.example.app"), from: old, to: SecretServiceStorage())
  /// ```
  ///
  /// - Parameters:
  ///   - query: The query that selects the items. Its details don't matter.
  ///   - source: The storage of the items.
  ///   - destination: The storage to move the items to.
  ///   - isReplacing: Whether to replace items of the destination that have another value. Their further attributes are
  ///     kept.
  ///   - progress: The closure to call during the run, on its thread.
  public init(
    of query: ItemQuery, from source: any SecureStorage, to destination: any SecureStorage,
    replacing isReplacing: Bool = false,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    let source = StorageMigrationSource(base: source, selection: .query(query))
    self.init(
      [MigrationTransfer(source: source, destination: destination, isReplacing: isReplacing)],
      progress)
  }

  /// Creates a migration of the items with certain keys.
  ///
  /// Keys without an item in the source are skipped.
  ///
  /// - Parameters:
  ///   - keys: The keys of the items.
  ///   - source: The storage of the items.
  ///   - destination: The storage to move the items to.
  ///   - isReplacing: Whether to replace items of the destination that have another value. Their further attributes are
  ///     kept.
  ///   - progress: The closure to call during the run, on its thread.
  public init(
    of keys: [ItemKey], from source: any SecureStorage, to destination: any SecureStorage,
    replacing isReplacing: Bool = false,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    let source = StorageMigrationSource(base: source, selection: .keys(keys))
    self.init(
      [MigrationTransfer(source: source, destination: destination, isReplacing: isReplacing)],
      progress)
  }

  /// Creates a migration that gives items of a storage other keys.
  ///
  /// The items keep their secrets, labels and attributes. At every moment, each of them has the old or the
  /// new key, or both. Keys without an item are skipped, and so is an item of another program that both keys mean.
  ///
  /// ```swift
  /// import Keyring
  /// import KeyringMigration
  /// import KeyringStorage
  ///
  /// let oldKey = ItemKey.password(service: "my-app", account: "token")
  /// let newKey = ItemKey.password(service: "org.example.MyApp", account: "authToken")
  /// try Migration(renaming: [oldKey: newKey], in: SecretServiceStorage()).move()
  /// ```
  ///
  /// - Parameters:
  ///   - keys: The new key for each old one, of the same kind.
  ///   - storage: The storage of the items.
  ///   - progress: The closure to call during the run, on its thread.
  public init(
    renaming keys: [ItemKey: ItemKey], in storage: any SecureStorage,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    let source = StorageMigrationSource(base: storage, selection: .renamed(keys))
    self.init(
      [MigrationTransfer(source: source, destination: storage, isReplacing: false)], progress)
  }

  /// Creates a migration of plaintext values to a storage.
  ///
  /// Values that the source doesn't have are skipped.
  ///
  /// - Parameters:
  ///   - items: The values and the items that they become.
  ///   - source: The source of the values.
  ///   - destination: The storage to move the values to.
  ///   - isReplacing: Whether to replace items of the destination that have another value. Their further attributes are
  ///     kept.
  ///   - progress: The closure to call during the run, on its thread.
  public init(
    of items: [PlaintextMapping], from source: PlaintextSource, to destination: any SecureStorage,
    replacing isReplacing: Bool = false,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    self.init([(items, destination)], from: source, replacing: isReplacing, progress: progress)
  }

  /// Creates a migration of plaintext values to several storages.
  ///
  /// Nothing is removed from the source before the values have arrived in all of the storages.
  ///
  /// - Parameters:
  ///   - parts: The values and the storages to move them to.
  ///   - source: The source of the values.
  ///   - isReplacing: Whether to replace items of the destination that have another value. Their further attributes are
  ///     kept.
  ///   - progress: The closure to call during the run, on its thread.
  init(
    _ parts: [(items: [PlaintextMapping], destination: any SecureStorage)],
    from source: PlaintextSource, replacing isReplacing: Bool = false,
    progress: @escaping @Sendable (Progress) -> Void
  ) {
    let transfers = parts.indices.map { index in
      let others = parts.indices.filter { $0 != index }.flatMap { parts[$0].items.map(\.path) }
      return MigrationTransfer(
        source: PlaintextMigrationSource(
          store: source.store, mappings: parts[index].items, otherPaths: Set(others)),
        destination: parts[index].destination, isReplacing: isReplacing)
    }
    self.init(transfers, progress)
  }

  private init(_ transfers: [MigrationTransfer], _ progress: @escaping @Sendable (Progress) -> Void)
  {
    (self.transfers, self.progress) = (transfers, progress)
  }

  /// Moves the items, or continues a migration that didn't finish.
  ///
  /// If the destination already has an item with the same secret and attributes, that item stays as it is. An
  /// item that isn't in the source is skipped.
  ///
  /// ```swift
  /// let outcome = try migration.move()
  /// print("moved \(outcome.count) items")
  /// ```
  ///
  /// - Returns: The number of items that were removed from the source and are now only in the destination, and the
  ///   items of a query that were left.
  /// - Throws: `SecureStorageError` if the migration fails. Before anything is written, it's
  ///   `.itemAlreadyExists` with the key if the destination has a different value that isn't to be replaced,
  ///   `.undecodable` if a plaintext value isn't of the expected type, `.invalidArgument` if the source and
  ///   the destination are the same storage, `.readOnly` if the destination can't store an item that it finds,
  ///   or any error of reading. Later, it's `.verificationFailed` if
  ///   the destination doesn't return what was written, or the source still has an item that was removed,
  ///   `.sourceChanged` if someone has changed the source in the meantime, or the error of storing or removing an
  ///   item. Nothing is removed from the source before the destination returns everything. After `.sourceChanged`, the
  ///   changed item is still there, and items that were removed before it are in the destination.
  @discardableResult
  public func move() throws(SecureStorageError) -> BulkOutcome {
    var transfers = try verifiedTransfers(moving: true)
    try perform(.removing, &transfers)
    return transfers.outcome
  }

  /// Copies the items, and leaves the source as it is.
  ///
  /// Everything is read and checked before anything is written, and read back afterwards. If the destination
  /// already has an item with the same secret and attributes, the item isn't written again.
  ///
  /// ```swift
  /// try migration.copy()
  /// ```
  ///
  /// - Returns: The number of items that are now in the source and in the destination, and the items of a query that
  ///   were left.
  /// - Throws: The same errors as `move()`, except for those of removing an item.
  @discardableResult
  public func copy() throws(SecureStorageError) -> BulkOutcome {
    try verifiedTransfers(moving: false).outcome
  }

  /// Copies the items asynchronously.
  ///
  /// - Returns: The number of items that are now in the source and in the destination, and the items of a query that
  ///   were left.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task. Some items may
  ///   have been copied by then.
  @discardableResult
  public func copy() async throws(SecureStorageError) -> BulkOutcome {
    try await BlockingPool.run(on: .ofQuestions, orThrow: Self.canceled) {
      () throws(SecureStorageError) in
      try copy()
    }
  }

  /// Stores the items in the destination and reads them back.
  private func verifiedTransfers(
    moving isMoving: Bool
  ) throws(SecureStorageError) -> [MigrationTransfer] {
    var transfers = transfers
    for index in transfers.indices {
      transfers[index].isMoving = isMoving
      try transfers[index].read()
    }
    for phase in [Phase.checking, .writing, .verifying] { try perform(phase, &transfers) }
    return transfers
  }

  /// Moves the items asynchronously.
  ///
  /// ```swift
  /// try await migration.move()
  /// ```
  ///
  /// - Returns: The number of items that were removed from the source and are now only in the destination, and the
  ///   items of a query that were left.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task. In that case, run the
  ///   migration again to finish it.
  @discardableResult
  public func move() async throws(SecureStorageError) -> BulkOutcome {
    try await BlockingPool.run(on: .ofQuestions, orThrow: Self.canceled) {
      () throws(SecureStorageError) in
      try move()
    }
  }

  private static var canceled: SecureStorageError {
    SecureStorageError(.canceled, operation: .migrate, backendName: "Migration")
  }

  private func perform(
    _ phase: Phase, _ transfers: inout [MigrationTransfer]
  ) throws(SecureStorageError) {
    if Cancellation.isCurrentCancelled { throw Self.canceled }
    var state = Progress(phase: phase, completed: 0, total: transfers.itemCount)
    progress(state)
    for index in transfers.indices {
      try transfers[index].perform(phase) {
        state.completed += 1
        progress(state)
      }
    }
  }
}

extension MigrationTransfer {
  /// Performs a phase, and calls a closure for each item.
  fileprivate mutating func perform(
    _ phase: Migration.Phase, _ done: () -> Void
  ) throws(SecureStorageError) {
    switch phase {
    case .checking: try check(done)
    case .writing: try write(done)
    case .verifying: try verify(done)
    case .removing: if !items.isEmpty { removedCount = try source.remove(items, done) }
    }
  }
}

extension [MigrationTransfer] {
  fileprivate var itemCount: Int { reduce(0) { $0 + $1.items.count } }

  fileprivate var outcome: BulkOutcome {
    BulkOutcome(
      count: reduce(0) { $0 + ($1.removedCount ?? $1.items.count) }, left: flatMap(\.left))
  }
}
