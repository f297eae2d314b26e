// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A storage that can be locked.
///
/// No secret in a locked storage can be read or written until it's unlocked. Some storages still list their
/// items.
///
/// Write each operation in the form in which you write the storage. It gets the other form.
public protocol LockableStorage: SecureStorage {
  /// Locks the storage.
  ///
  /// Locking a locked storage changes nothing.
  ///
  /// - Throws: `SecureStorageError` if the storage can't be locked.
  func lock() throws(SecureStorageError)

  /// Unlocks the storage, and prompts the user if necessary.
  ///
  /// - Throws: `.locked` if the user may not be prompted, or `.userCanceled` if the user declines.
  func unlock() throws(SecureStorageError)

  /// Returns `true` if the storage is locked.
  ///
  /// - Returns: `true` if it's locked.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  func isLocked() throws(SecureStorageError) -> Bool

  // The asynchronous overloads call these requirements.

  /// Locks the storage, and suspends the task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError)

  /// Unlocks the storage, and suspends the task while it waits.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError)

  /// Returns `true` if the storage is locked, and suspends the task while it waits.
  ///
  /// - Returns: `true` if it's locked.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool
}

// Asynchronous overloads of the operations.
extension LockableStorage {
  /// Locks the storage.
  ///
  /// Locking a locked storage changes nothing.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func lock() async throws(SecureStorageError) {
    try await lockWithoutBlocking()
  }

  /// Unlocks the storage, and prompts the user if necessary.
  ///
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func unlock() async throws(SecureStorageError) {
    try await unlockWithoutBlocking()
  }

  /// Returns `true` if the storage is locked.
  ///
  /// - Returns: `true` if it's locked.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func isLocked() async throws(SecureStorageError) -> Bool {
    try await isLockedWithoutBlocking()
  }
}

// The form of the operations that a storage doesn't write.

extension AsynchronousStorage where Self: LockableStorage {
  /// Runs the asynchronous operation to its end on this thread.
  public func lock() throws(SecureStorageError) {
    try ThreadExecutor.runToEnd(lockWithoutBlocking)
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func unlock() throws(SecureStorageError) {
    try ThreadExecutor.runToEnd(unlockWithoutBlocking)
  }

  /// Runs the asynchronous operation to its end on this thread.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try ThreadExecutor.runToEnd(isLockedWithoutBlocking)
  }
}

extension SynchronousStorage where Self: LockableStorage {
  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.lock) { () throws(SecureStorageError) in try lock() }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.unlock) { () throws(SecureStorageError) in try unlock() }
  }

  /// Runs the synchronous operation, on another thread if it may block.
  public nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isLocked() }
  }
}
