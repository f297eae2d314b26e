// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A subscription to the events of a storage, which ends when you call ``cancel()`` or release it.
public final class StorageSubscription: Sendable {
  private let onEnd: Mutex<(@Sendable () -> Void)?>

  /// Creates a subscription for a storage to return.
  ///
  /// - Parameter onEnd: A closure that is called once, when the subscription ends.
  public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// A call of the observer may still be running on another thread.
  public func cancel() {
    let onEnd = onEnd.withLock { exchange(&$0, with: nil) }
    onEnd?()
  }
}

/// The observers of a storage that learns of all changes in one place.
public final class ObserverList: Sendable {
  private struct State: Sendable {
    var nextID = 0
    var observers: [(id: Int, call: @Sendable (StorageEvent) -> Void)] = []
  }

  private let state = Mutex(State())

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
  /// Call this method in the order of the events, from one thread at a time.
  ///
  /// - Parameter event: The event.
  public func report(_ event: StorageEvent) {
    for observer in state.withLock({ $0.observers }) { observer.call(event) }
  }
}
