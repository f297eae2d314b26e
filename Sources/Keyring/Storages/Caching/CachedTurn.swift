// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A turn of a cached storage, which keeps what it meets out of the cache.
private struct CachedTurn: ItemTurn {
  let turn: any ItemTurn
  let cache: ItemCache
  let key: ItemKey

  nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
    // The cached item may be older.
    try await cache.whileWriting(key, await turn.item())
  }

  nonisolated(nonsending) func save(
    _ item: SecureItem?, replacing old: SecureItem?
  ) async throws(SecureStorageError) -> Bool {
    try await cache.whileWriting(key, await turn.save(item, replacing: old))
  }

  func whenLost(_ handler: @escaping @Sendable () -> Void) { turn.whenLost(handler) }

  nonisolated(nonsending) func end() async { await turn.end() }
}

extension CachedStorage {
  /// Waits for a turn of the wrapped storage.
  public func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    let turn = try await base.takeTurnWithoutBlocking(for: key, details: details, timeout: timeout)
    return CachedTurn(turn: turn, cache: cache, key: key)
  }
}
