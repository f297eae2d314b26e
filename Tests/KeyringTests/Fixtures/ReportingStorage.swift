// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import Synchronization

/// An empty storage that counts its reads and reports the events that a test gives it.
final class ReportingStorage: ImmediateStorage, ObservableStorage {
  let observers = ObserverList()
  let reads = Mutex(0)
  let cacheLifetime: Duration?

  init(cacheLifetime: Duration? = nil) { self.cacheLifetime = cacheLifetime }

  func save(_ item: SecureItem, mode: SaveMode) {}
  func removeItems(matching query: ItemQuery) -> Int { 0 }
  func items(matching query: ItemQuery) -> [SecureItem] {
    reads.withLock { $0 += 1 }
    return []
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    observers.add(observer)
  }
}
