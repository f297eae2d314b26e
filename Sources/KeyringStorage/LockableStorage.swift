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
  /// - Returns: Whether it is.
  /// - Throws: Any reason for not knowing the answer.
  func isLocked() throws(SecureStorageError) -> Bool
}

// The asynchronous twins.
extension LockableStorage {
  /// Locks the storage; locking a locked one changes nothing.
  ///
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func lock() async throws(SecureStorageError) {
    try await offThread(.lock) { () throws(SecureStorageError) in try lock() }
  }

  /// Unlocks the storage, asking the user if that is what it takes.
  ///
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func unlock() async throws(SecureStorageError) {
    try await offThread(.unlock) { () throws(SecureStorageError) in try unlock() }
  }

  /// Tells whether the storage is locked.
  ///
  /// - Returns: Whether it is.
  /// - Throws: What the synchronous operation throws, and `.canceled`.
  public func isLocked() async throws(SecureStorageError) -> Bool {
    try await offThread(.read) { () throws(SecureStorageError) in try isLocked() }
  }
}
