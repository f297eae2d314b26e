// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An observer of several sources of events, to whom they are one.
package final class JointObserver: Sendable {
  private let observers = ObserverList()
  private let subscription: StorageSubscription
  private let interrupted = Mutex<Set<Int>>([])

  /// Creates an observer from the closure to call with every event.
  package init(_ observer: @escaping @Sendable (StorageEvent) -> Void) {
    subscription = observers.add(observer)
  }

  /// Passes on an event of a source.
  ///
  /// Of the interruptions, the observer sees the first one begin and the last one end.
  package func report(_ event: StorageEvent, from source: Int) {
    interrupted.withLock { interrupted in
      let isNews =
        switch event {
        case .interrupted: interrupted.insert(source).inserted && interrupted.count == 1
        case .resumed: interrupted.remove(source) != nil && interrupted.isEmpty
        default: true
        }
      if isNews { observers.collect(event) }
    }
    observers.deliver()
  }

  /// Reports nothing from now on.
  package func end() { subscription.cancel() }
}
