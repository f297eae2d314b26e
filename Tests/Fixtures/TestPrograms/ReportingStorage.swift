// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage
package import Synchronization

/// An empty storage that counts its reads and reports the events that a test gives it.
package final class ReportingStorage: ImmediateStorage, EmptyStorage, ObservableStorage {
  package let observers = ObserverList()
  package let reads = Mutex(0)
  package let cacheLifetime: Duration?

  package init(cacheLifetime: Duration? = nil) { self.cacheLifetime = cacheLifetime }

  package func items(matching query: ItemQuery) -> [SecureItem] {
    reads.withLock { $0 += 1 }
    return []
  }

  package func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    observers.add(observer)
  }
}
