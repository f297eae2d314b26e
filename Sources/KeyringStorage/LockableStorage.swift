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
