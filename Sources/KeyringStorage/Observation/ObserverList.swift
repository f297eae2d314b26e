// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import Synchronization

/// The observers of a storage that learns of all changes in one place.
public final class ObserverList: Sendable {
  private struct State: Sendable {
    var nextID = 0
    var observers: [(id: Int, observer: Observer)] = []
  }

  private let state = Mutex(State())
  private let calls = OrderedCalls()

  /// Creates an empty list.
  public init() {}

  /// Whether there are no observers.
  public var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

  /// Adds an observer until its subscription ends.
  ///
  /// - Parameter observer: The closure to call with every event.
  /// - Returns: The subscription.
  public func add(_ observer: @escaping @Sendable (StorageEvent) -> Void) -> StorageSubscription {
    add(Observer(observer))
  }

  /// Adds an observer until its subscription ends, and reports an event to it before all others.
  ///
  /// - Parameters:
  ///   - observer: The closure to call with every event.
  ///   - event: The first event, if any.
  /// - Returns: The subscription.
  package func add(
    _ observer: @escaping @Sendable (StorageEvent) -> Void, reporting event: StorageEvent?
  ) -> StorageSubscription {
    let observer = Observer(observer)
    if let event { observer.report(event) }
    return add(observer)
  }

  /// Adds a closure of the library, which returns at once, until its subscription ends.
  ///
  /// - Parameter observer: The closure, which the thread that reports an event calls.
  /// - Returns: The subscription.
  package func addForLibrary(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    add(Observer(isOfLibrary: true, observer))
  }

  private func add(_ observer: Observer) -> StorageSubscription {
    let id = state.withLock { state in
      state.nextID += 1
      state.observers.append((state.nextID, observer))
      return state.nextID
    }
    return StorageSubscription { [weak self] in
      self?.state.withLock { $0.observers.removeAll { $0.id == id } }
      observer.end()
    }
  }

  /// Reports an event to every observer.
  ///
  /// Call this method in the order of the events, and without a lock that the storage's operations need. To report
  /// what happens under such a lock, use ``collect(_:)``. A thread of the library's own calls the observers, and delays
  /// only later events of the same observer.
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
    calls.collect { for (_, observer) in observers { observer.report(event) } }
  }

  /// Reports the events that were collected, after the lock is released.
  ///
  /// Caches know of the events when this method returns. Other observers are called soon.
  public func deliver() { calls.make() }
}
