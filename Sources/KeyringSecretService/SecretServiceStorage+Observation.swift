#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: ObservableStorage {
  /// Has a closure called with everything that happens to the items of the collection.
  ///
  /// The keyring's signals tell of it, and what they are about is looked at before it is reported. A
  /// thread listens to them while somebody observes. It never unlocks anything and asks nobody, and it
  /// goes on when the bus or the keyring is restarted.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named. The items it selects are listed once, so a query that
  ///     names a service or a key costs less in a large collection.
  ///   - observer: What to call.
  /// - Returns: A token that ends the observation.
  /// - Throws: What keeps the keyring from being reached.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    try CallLoop.runToEnd { () async throws(SecureStorageError) in
      try await startObserving(query, observer)
    }
  }

  /// Has a closure called with everything that happens to the items of the collection.
  ///
  /// - Parameters:
  ///   - query: Whose changes are to be named.
  ///   - observer: What to call.
  /// - Returns: A token that ends the observation.
  /// - Throws: What keeps the keyring from being reached, or `.canceled` if the task is cancelled.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    try await CallLoop.run { () async throws(SecureStorageError) in
      try await startObserving(query, observer)
    }
  }

  private func startObserving(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageObservation {
    let deadline = Deadline(after: options.serviceTimeout)
    do throws(SecretSession.OpeningFailure) {
      return try await ChangeReporter.shared(at: options.busAddress)
        .observe(options.collection, query, until: deadline, observer)
    } catch {
      throw error.error(.observe, of: self)
    }
  }
}
#endif
