// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

/// A turn among the callers of one process, for a storage that has no wider one.
struct ProcessTurn: ItemTurn {
  /// The queues of all storages without queues of their own, which two storages may share.
  static let queue = KeyQueue()

  let storage: any SecureStorage
  let key: ItemKey
  let details: ItemQuery.Details

  nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
    try await storage.itemsWithoutBlocking(for: [key], details: details)[key]
  }

  nonisolated(nonsending) func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    let stored = try await self.item()
    guard stored.hasSameContent(as: old) else { return false }
    return try await storage.change(to: item, for: key, wasThere: stored != nil)
  }

  nonisolated(nonsending) func end() async { Self.queue.leave(key) }
}

extension SecureItem? {
  /// Compares the contents of two items, of which both or none are there.
  package func hasSameContent(as other: SecureItem?) -> Bool {
    self.map { $0.hasSameContent(as: other) } ?? (other == nil)
  }
}

extension SecureStorage {
  /// Stores or removes an item in the mode that fits what was there a moment ago.
  ///
  /// - Returns: `false` for an item that was added or removed since then.
  package nonisolated(nonsending) func change(
    to item: SecureItem?, for key: ItemKey, wasThere: Bool
  ) async throws(SecureStorageError) -> Bool {
    guard let item else {
      if wasThere { _ = try await removeItemsWithoutBlocking(matching: .key(key)) }
      return true
    }
    do throws(SecureStorageError) {
      try await saveWithoutBlocking(item, mode: wasThere ? .update : .add)
      return true
    } catch {
      guard error.code == .itemNotFound || error.code == .itemAlreadyExists else { throw error }
      return false
    }
  }
}

extension SecureStorage {
  /// Waits for a turn among the callers of this process.
  ///
  /// A comparison notices what others store meanwhile. Write your own for a storage that several processes use.
  public nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try validate(key, for: .takeTurn)
    try await join(
      ProcessTurn.queue, key, until: .now(plus: timeout ?? Self.ordinaryTurnTimeout))
    return ProcessTurn(storage: self, key: key, details: details)
  }
}
