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
  /// - Returns: What ends it.
  /// - Throws: What keeps the keyring from being reached.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageObservation {
    let deadline = Deadline(after: options.serviceTimeout)
    do throws(SecretSession.OpeningFailure) {
      return try ChangeReporter.shared(at: options.busAddress)
        .observe(options.collection, query, until: deadline, observer)
    } catch {
      throw error.error(.observe, of: self)
    }
  }

  /// Runs something that writes, and tells those in this process who observe before it returns.
  func noting<Result>(
    _ key: ItemKey?, _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    // Also of a write that failed: it may have taken place.
    defer { ChangeReporter.noteWrite(of: key, at: options.busAddress) }
    return try body()
  }
}
#endif
