// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Observation
internal import Synchronization

/// A read with `withObservationTracking`, and the number of times that its reader was notified of a change.
package final class Tracked<Value: Sendable>: Sendable {
  private final class Tellings: Sendable { let count = Atomic(0) }

  /// The value that was read.
  package let first: Value
  private let tellings: Tellings

  /// Reads and tracks something once.
  package init(_ read: () -> Value, onChange: @escaping @Sendable () -> Void = {}) {
    let tellings = Tellings()
    first = withObservationTracking(read) {
      tellings.count.add(1, ordering: .relaxed)
      onChange()
    }
    self.tellings = tellings
  }

  package var count: Int { tellings.count.load(ordering: .relaxed) }

  /// Waits until the reader is notified.
  package func wasTold() async -> Bool { await waitUntil { count > 0 } }
}
#endif
