#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretServiceStorage {
  /// The locks that keep two calls from saving under the same key at the same time.
  ///
  /// The Secret Service has no "create if absent". Between the search that finds nothing and the creation,
  /// another call's item would go unnoticed.
  private static let locks = KeyedLocks<ItemKey>()

  /// Runs a closure while no other task of the process runs one for the same key.
  func withSaveLock<Result>(
    on key: ItemKey, _ operation: SecureStorageError.Operation,
    _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    func failure(_ reason: Waiter.Outcome) -> SecureStorageError {
      error(
        reason == .timedOut ? .timedOut : .canceled, during: operation,
        message: reason == .timedOut ? "Another thread kept saving the same item." : nil
      )
    }
    return try await Self.locks.withLock(
      key, until: .now(plus: options.longestOperation), failing: failure, body)
  }
}
#endif
