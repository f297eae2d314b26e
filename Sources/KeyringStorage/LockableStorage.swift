/// A storage that can be locked, so that nothing in it is read or written until it is unlocked.
public protocol LockableStorage: SecureStorage {
  /// Locks the storage; locking a locked one changes nothing.
  ///
  /// - Throws: Whatever kept the storage from being locked.
  func lock() throws(SecureStorageError)

  /// Unlocks the storage, asking the user if that is what it takes.
  ///
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  func unlock() throws(SecureStorageError)

  /// Tells whether the storage is locked.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func isLocked() throws(SecureStorageError) -> Bool

  // What `await` leads to, by default on a thread of the library's own.

  /// Locks the storage, and suspends its task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError)

  /// Unlocks the storage, and suspends its task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError)

  /// Returns whether the storage is locked, and suspends its task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool
}

// The asynchronous overloads.
extension LockableStorage {
  /// Locks the storage; locking a locked one changes nothing.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func lock() async throws(SecureStorageError) {
    try await lockWithoutBlocking()
  }

  /// Unlocks the storage, asking the user if that is what it takes.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func unlock() async throws(SecureStorageError) {
    try await unlockWithoutBlocking()
  }

  /// Tells whether the storage is locked.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func isLocked() async throws(SecureStorageError) -> Bool {
    try await isLockedWithoutBlocking()
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.lock) { () throws(SecureStorageError) in try lock() }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.unlock) { () throws(SecureStorageError) in try unlock() }
  }

  /// Runs the operation that blocks on a thread of the library's own.
  public nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isLocked() }
  }
}
