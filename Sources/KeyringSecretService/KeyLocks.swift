#if SecretService && os(Linux)
internal import KeyringStorage

/// Keeps two threads from saving under the same key at the same time.
///
/// The Secret Service has no "create if absent": between the search that finds nothing and the
/// creation, another thread's item would go unnoticed.
final class KeyLocks: Sendable {
  static let shared = KeyLocks()

  private let monitor = Monitor(Set<ItemKey>())

  /// Runs something while no other thread does the same for this key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - deadline: When to stop waiting for the other thread.
  ///   - failure: What to throw then, or when the task is cancelled.
  ///   - body: What to run.
  /// - Returns: What it returned.
  /// - Throws: What it threw, or `failure`.
  func withLock<Result>(
    _ key: ItemKey, until deadline: Deadline,
    failing failure: (BusFailure) -> SecureStorageError,
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    let isMine: Bool? = monitor.wait(until: deadline) { keys in
      keys.insert(key).inserted ? true : nil
    }
    guard isMine != nil else { throw failure(deadline.failure ?? .timedOut) }
    defer { monitor.withLock { _ = $0.remove(key) } }
    return try body()
  }
}
#endif
