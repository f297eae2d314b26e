// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime
public import KeyringStorage

internal import KeyringPlatform

extension EncryptedFileStorage {
  /// Waits for a turn among all programs that use the file.
  ///
  /// The first turn creates a file with the suffix `.turns`, which stays. A program that removes it ends all turns.
  ///
  /// - Parameters:
  ///   - key: The key of the item, which doesn't need to exist.
  ///   - details: The details that the turn's item has.
  ///   - timeout: The longest time to wait for others, or `nil` for half of the storage's timeout.
  /// - Returns: The turn.
  /// - Throws: `.timedOut`, which names the program whose turn it is; `.accessDenied` in a directory that can't be
  ///   written; `.canceled`; or `.other` with the number of the system's error.
  public nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    let end = Int64.now(plus: timeout ?? file.timeout / 2)
    let wait = await file.turns.queue.join(key, until: end)
    if wait != .ended { throw await error(wait, whileWaitingFor: key, isFirst: false) }
    do throws(SecureStorageError) {
      let lock = try await lock(key, until: end)
      return FileTurn(storage: self, key: key, details: details, lock: lock)
    } catch {
      file.turns.queue.leave(key)
      throw error.during(.takeTurn)
    }
  }

  /// Locks the byte of an item for the first caller in its queue.
  private nonisolated(nonsending) func lock(
    _ key: ItemKey, until end: Int64
  ) async throws(SecureStorageError) -> TurnLock {
    let turns = file.turns
    while true {
      if !turns.isWaiting(for: key) {
        let lock = try await blocking(.takeTurn) { () throws(SecureStorageError) in
          try turns.lock(key)
        }
        if let lock { return lock }
      }
      let (wait, lock) = try await turns.waitForLock(of: key, until: end)
      if wait != .ended { throw await error(wait, whileWaitingFor: key, isFirst: true) }
      if let lock { return lock }
    }
  }

  /// Returns the error of a wait that failed, which names the program whose turn it is.
  private nonisolated(nonsending) func error(
    _ wait: Waiter.Outcome, whileWaitingFor key: ItemKey, isFirst: Bool
  ) async -> SecureStorageError {
    let turns = file.turns
    let own = error(
      wait, during: .takeTurn, "This process itself keeps its turn to change the item.")
    guard wait == .timedOut else { return own }
    let holder = try? await blocking(.takeTurn) { turns.holder(of: key) }
    if holder == getpid() || holder == nil && !isFirst && !turns.isWaiting(for: key) { return own }
    return error(
      .timedOut, during: .takeTurn,
      message:
        "Another program keeps its turn to change this item: \(Self.program(of: holder)).",
      recoverySuggestion: "End that program if it hangs, and try again.")
  }

  private static func program(of process: Int32?) -> String {
    #if os(Linux)
    if let process, let name = ProcFile.programName(of: process) {
      return "\(name), process \(process)"
    }
    #endif
    return "one that can't be seen"
  }
}

/// A turn to change an item of a file.
private struct FileTurn: ItemTurn {
  let storage: EncryptedFileStorage
  let key: ItemKey
  let details: ItemQuery.Details
  let lock: TurnLock

  nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
    try await storage.blocking(.read) { [self] () throws(SecureStorageError) in
      try check(.read)
      return try storage.item(for: key, details: details)
    }
  }

  nonisolated(nonsending) func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    if let item { try storage.validate(item) }
    let operation: SecureStorageError.Operation = item == nil ? .remove : .save
    return try await storage.blocking(operation) { [self] () throws(SecureStorageError) in
      try storage.file.change(operation) { (content) throws(SecureStorageError) in
        try check(operation)
        let stored = content.entries[key]?.item(details)
        guard stored.hasSameContent(as: old) else { return false }
        if let item {
          if stored == nil { _ = try storage.requireSecret(item) }
          try content.save(item)
        } else {
          _ = content.removeItems(matching: .key(key))
        }
        return true
      }
    }
  }

  /// Throws `.turnLost` after the end, and if someone has removed the file of the turns.
  private func check(_ operation: SecureStorageError.Operation) throws(SecureStorageError) {
    if try !storage.file.translating(lock.isHeld()) {
      throw storage.error(.turnLost, during: operation)
    }
  }

  nonisolated(nonsending) func end() async {
    await withoutCancellation { [storage, lock] in
      _ = try? await storage.blocking(.takeTurn) { lock.release() }
    }
    // No thread can do it in a forked process.
    lock.release()
    storage.file.turns.queue.leave(key)
  }
}
#endif
