// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An observer of several sources of events, to whom they are one.
package final class JointObserver: Sendable {
  private let base: @Sendable (StorageEvent) -> Void
  private let interrupted = Mutex<Set<Int>>([])
  private let calls = OrderedCalls()

  package init(_ base: @escaping @Sendable (StorageEvent) -> Void) { self.base = base }

  /// Passes on an event of a source.
  ///
  /// Of the interruptions, the observer sees the first one begin and the last one end. A second
  /// source doesn't call the observer at the same time.
  package func report(_ event: StorageEvent, from source: Int) {
    interrupted.withLock { interrupted in
      let isNews =
        switch event {
        case .interrupted: interrupted.insert(source).inserted && interrupted.count == 1
        case .resumed: interrupted.remove(source) != nil && interrupted.isEmpty
        default: true
        }
      if isNews { calls.collect { [base] in base(event) } }
    }
    calls.make()
  }
}
