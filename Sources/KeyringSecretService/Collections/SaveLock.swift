// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A lock that keeps two calls of the process from saving under the same key at the same time (Decisions/0003).
struct SaveLock {
  private static let all = Mutex<[ItemKey: SaveLock]>([:])

  private let semaphore = TaskSemaphore(1)
  /// The number of calls that have the lock or wait for it.
  private var users = 0

  private init() {}

  /// Waits for the lock of a key, which has to be given back.
  ///
  /// - Throws: The error for a lock that others keep for too long, or of a cancelled task.
  static func take(
    _ key: ItemKey, for operation: SecureStorageError.Operation, of storage: SecretServiceStorage
  ) async throws(SecureStorageError) {
    let semaphore = all.withLock { $0[key, default: SaveLock()].join() }
    let wait = await semaphore.take(until: .now(plus: storage.options.longestOperation))
    if wait == .ended { return }
    leave(key)
    throw storage.error(wait, during: operation, "Another thread kept saving the same item.")
  }

  private mutating func join() -> TaskSemaphore {
    users += 1
    return semaphore
  }

  static func giveBack(_ key: ItemKey) { leave(key)?.giveBack() }

  @discardableResult
  private static func leave(_ key: ItemKey) -> TaskSemaphore? {
    all.withLock { locks in
      guard let index = locks.index(forKey: key) else { return nil }
      let semaphore = locks.values[index].semaphore
      locks.values[index].users -= 1
      if locks.values[index].users == 0 { locks.remove(at: index) }
      return semaphore
    }
  }
}
#endif
