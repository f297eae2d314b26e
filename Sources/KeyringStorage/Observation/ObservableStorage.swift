/// A storage that tells when its items change, whoever changes them.
///
/// Two things are built from its one operation: the stream ``changes(matching:)``, and a cache that
/// is never behind.
///
/// ```swift
/// for await change in try await storage.changes(matching: .service("org.example.app")) {
///   print(change)  // created password (service: org.example.app, username: me)
/// }
/// ```
public protocol ObservableStorage: SecureStorage {
  /// Has a closure called with everything that happens to the items, from when this returns.
  ///
  /// A change is reported once, for what it is, in the order in which changes were made. Several
  /// quick changes of an item may be reported as one. Who reports keeps no secret for that.
  ///
  /// When the connection to the items is lost and comes back, the storage reads again, compares what
  /// is there with what was, and reports the differences between ``StorageEvent/interrupted`` and
  /// ``StorageEvent/resumed``. It never unlocks anything, and asks nobody.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named: those of the items whose keys agree with it, as
  ///     ``ItemQuery/matches(_:)`` tells from the key alone. With `nil` nobody needs names, and
  ///     ``StorageEvent/mayHaveChanged(_:)`` will do, which costs a storage less. It may name more.
  ///   - observer: Called on any thread, perhaps in the middle of a write, by one thread at a time.
  ///     It returns at once, and does not use the storage.
  /// - Returns: A token that ends the observation, at the latest when it is released.
  /// - Throws: What keeps the storage from being observed.
  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation

  /// Has a closure called with everything that happens to the items, and suspends its task while it waits.
  ///
  /// By default the operation that blocks runs on a thread of the library's own.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named; `nil` for nobody's.
  ///   - observer: The closure, which returns at once and does not use the storage.
  /// - Returns: The observation, which ends at the latest when it is released.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation
}

extension ObservableStorage {
  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    try await blocking(.observe) { () throws(SecureStorageError) in try observe(query, observer) }
  }

  /// What is created, replaced and removed from now on, by this process and others.
  ///
  /// What happens before the stream is read waits there, so that nothing falls between this call, a
  /// first look at the items, and the loop. Who reads slowly gets one change for each item, from the
  /// state last seen to the latest.
  ///
  /// - Parameter query: Whose changes: those of the items whose keys agree with it. A query that
  ///   looks at more than the key is refused; an empty one means all.
  /// - Returns: The changes. The stream ends when the task that reads it is cancelled; a lost
  ///   connection is bridged by reading again once it is back.
  /// - Throws: `.invalidArgument` for a query that a key cannot answer, `.canceled`, or what keeps
  ///   the storage from being observed.
  public nonisolated(nonsending) func changes(
    matching query: ItemQuery = ItemQuery()
  ) async throws(SecureStorageError) -> ItemChanges {
    try validate(query, for: .observe)
    if query.label != nil || query.created != nil || query.modified != nil || query.limit != nil {
      throw SecureStorageError(
        .invalidArgument, operation: .observe, backend: backendName,
        message: "Of an item that changes, only the key is known.",
        advice: "Leave label, created, modified and limit out of the query.", argument: "query")
    }
    return try await ItemChanges(of: [(self, query)])
  }
}
