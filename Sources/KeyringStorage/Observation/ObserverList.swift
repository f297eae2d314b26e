// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The observers of a storage that learns of all changes in one place.
public final class ObserverList: Sendable {
  private struct State: Sendable {
    var nextID = 0
    var observers: [(id: Int, call: @Sendable (StorageEvent) -> Void)] = []
  }

  private let state = Mutex(State())
  private let calls = OrderedCalls()

  /// Creates an empty list.
  public init() {}

  /// Indicates whether there are no observers.
  public var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

  /// Adds an observer until its subscription ends.
  ///
  /// - Parameter observer: The closure to call with every event.
  /// - Returns: The subscription.
  public func add(_ observer: @escaping @Sendable (StorageEvent) -> Void) -> StorageSubscription {
    let id = state.withLock { state in
      state.nextID += 1
      state.observers.append((state.nextID, observer))
      return state.nextID
    }
    return StorageSubscription { [weak self] in
      // Release the observer outside the lock, because releasing what it holds may end another
      // subscription.
      let observer = self?.state.withLock { state in
        state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
      }
      _ = observer
    }
  }

  /// Calls every observer, in the order in which they were added.
  ///
  /// Call this method in the order of the events, and without a lock that the storage's operations need,
  /// because an observer may use the storage. To report what happens under such a lock, use ``collect(_:)``.
  ///
  /// - Parameter event: The event.
  public func report(_ event: StorageEvent) {
    collect(event)
    deliver()
  }

  /// Keeps an event for the observers that there are now.
  ///
  /// - Parameter event: The event. Collect the events in their order, under a lock of your own.
  public func collect(_ event: StorageEvent) {
    let observers = state.withLock { $0.observers }
    if observers.isEmpty { return }
    calls.collect { [weak self] in
      for observer in observers where self?.has(observer.id) == true { observer.call(event) }
    }
  }

  /// Calls the observers with the events that were collected, after the lock is released.
  ///
  /// The events were reported when this method returns, unless an observer calls it. In that case, they're
  /// reported after the observer returns.
  public func deliver() { calls.make() }

  /// Returns `true` unless the subscription of an observer has ended.
  private func has(_ id: Int) -> Bool { state.withLock { $0.observers.contains { $0.id == id } } }
}
