// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// The locks that keep two calls from saving under the same key at the same time.
///
/// The Secret Service has no "create if absent". Between the search that finds nothing and the creation,
/// another call's item would go unnoticed.
enum SaveLock {
  private struct Entry {
    let lock = TaskSemaphore(1)
    /// The number of calls that have the lock or wait for it.
    var users = 0
  }

  private static let entries = Mutex<[ItemKey: Entry]>([:])

  fileprivate static func begin(_ key: ItemKey) -> TaskSemaphore {
    entries.withLock { entries in
      var entry = entries[key] ?? Entry()
      entry.users += 1
      entries[key] = entry
      return entry.lock
    }
  }

  fileprivate static func end(_ key: ItemKey) {
    entries.withLock { entries in
      entries[key]?.users -= 1
      if entries[key]?.users == 0 { entries[key] = nil }
    }
  }
}

extension SecretServiceStorage {
  /// Runs a closure while no other task of the process runs one for the same key.
  func withSaveLock<Result>(
    on key: ItemKey, _ operation: SecureStorageError.Operation,
    _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    let lock = SaveLock.begin(key)
    defer { SaveLock.end(key) }
    let wait = await lock.take(until: .now(plus: options.longestOperation))
    guard wait == .ended else {
      throw error(wait, during: operation, "Another thread kept saving the same item.")
    }
    defer { lock.giveBack() }
    return try await body()
  }
}
#endif
