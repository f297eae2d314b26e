// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: ObservableStorage {
  /// Calls a closure with everything that happens to the items of the collection.
  ///
  /// The storage learns about changes from the keyring's signals, and examines the affected items before it
  /// reports a change. A thread listens to the signals while there are observers. It never unlocks anything
  /// and never asks the user. It continues when the bus or the keyring is restarted.
  ///
  /// - Parameters:
  ///   - query: A query for the items whose changes are named. The items that it selects are listed once,
  ///     so a query that names a service or a key costs less in a large collection.
  ///   - observer: The closure to call.
  /// - Returns: A subscription that ends the observation.
  /// - Throws: `SecureStorageError` if the keyring can't be reached.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try CallLoop.runToEnd { () async throws(SecureStorageError) in
      try await observeWithoutBlocking(query, observer)
    }
  }

  /// Starts an observation, waiting for the keyring on the library's own thread.
  public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try await CallLoop.run { () async throws(SecureStorageError) in
      let deadline = Deadline(after: options.serviceTimeout)
      do throws(SecretSession.OpeningFailure) {
        return try await ChangeMonitor.shared(at: options.busAddress)
          .observe(options.collection, query, until: deadline, observer)
      } catch {
        throw error.error(.observe, of: self)
      }
    }
  }

  /// Tells the observers in this process that an operation may have changed an item.
  ///
  /// This happens before the operation returns, even if the write failed: it may have taken place.
  func noteWrite(of key: ItemKey?) { ChangeMonitor.noteWrite(of: key, at: options.busAddress) }
}
#endif
