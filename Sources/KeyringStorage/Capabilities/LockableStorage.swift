// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A storage that can be locked.
///
/// The secrets of a locked storage can't be read or written until it's unlocked. Some storages still list their
/// items.
///
/// Write each operation in the form in which you write the storage. It gets the other form.
///
/// ```swift
/// try storage.lock()
/// try storage.unlock()  // asks the user for the password
/// ```
public protocol LockableStorage: SecureStorage {
  /// Locks the storage.
  ///
  /// Locking a locked storage changes nothing.
  ///
  /// - Throws: The error of the storage.
  func lock() throws(SecureStorageError)

  /// Unlocks the storage, with a prompt where that's necessary.
  ///
  /// - Throws: `.locked` where prompts aren't allowed, or `.userCanceled`.
  func unlock() throws(SecureStorageError)

  /// Returns `true` for a locked storage.
  ///
  /// ```swift
  /// if try storage.isLocked() { try storage.unlock() }
  /// ```
  ///
  /// - Returns: `true` for a locked storage.
  /// - Throws: The error of the storage.
  func isLocked() throws(SecureStorageError) -> Bool

  // The asynchronous overloads call these requirements.

  /// Locks the storage, suspending the task.
  ///
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError)

  /// Unlocks the storage, suspending the task.
  ///
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError)

  /// Returns `true` for a locked storage, suspending the task.
  ///
  /// - Returns: `true` for a locked storage.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool
}

// Asynchronous overloads of the operations.
extension LockableStorage {
  /// Locks the storage.
  ///
  /// Locking a locked storage changes nothing.
  ///
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func lock() async throws(SecureStorageError) {
    try await lockWithoutBlocking()
  }

  /// Unlocks the storage, with a prompt where that's necessary.
  ///
  /// - Throws: The errors of the form that blocks, or `.canceled`.
  public nonisolated(nonsending) func unlock() async throws(SecureStorageError) {
    try await unlockWithoutBlocking()
  }

  /// Returns `true` for a locked storage.
  ///
  /// - Returns: `true` for a locked storage.
  /// - Throws: The errors of the form that blocks, or `.canceled`.
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
  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func lockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.lock) { () throws(SecureStorageError) in try lock() }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await blocking(.unlock) { () throws(SecureStorageError) in try unlock() }
  }

  /// Runs the synchronous operation for a task.
  public nonisolated(nonsending) func isLockedWithoutBlocking() async throws(SecureStorageError)
    -> Bool
  {
    try await blocking(.read) { () throws(SecureStorageError) in try isLocked() }
  }
}
