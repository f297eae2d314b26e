// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// An observation of several storages by one observer.
final class LayeredObservation: Sendable {
  private struct State: Sendable {
    /// The number of storages whose changes go unnoticed at the moment.
    var interruptions = 0
  }

  private let observer: @Sendable (StorageEvent) -> Void
  private let state = Mutex(State())
  private let subscriptions = Mutex<[StorageSubscription]>([])

  init(_ observer: @escaping @Sendable (StorageEvent) -> Void) { self.observer = observer }

  func add(_ subscription: StorageSubscription) {
    subscriptions.withLock { $0.append(subscription) }
  }

  /// Passes on an event of a storage.
  ///
  /// The lock keeps a second storage from calling the observer at the same time. Interruptions are counted:
  /// the observer sees the first one begin and the last one end.
  @Sendable func report(_ event: StorageEvent) {
    state.withLock { state in
      switch event {
      case .interrupted:
        state.interruptions += 1
        if state.interruptions == 1 { observer(event) }
      case .resumed:
        state.interruptions -= 1
        if state.interruptions == 0 { observer(event) }
      default: observer(event)
      }
    }
  }

  /// Returns a subscription that ends the observation of all storages.
  func subscription() -> StorageSubscription {
    let subscriptions = subscriptions.withLock { $0 }
    return StorageSubscription { for subscription in subscriptions { subscription.cancel() } }
  }
}
