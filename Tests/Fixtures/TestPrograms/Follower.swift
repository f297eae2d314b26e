// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Observation
internal import Synchronization

/// A reader that reads again after each change, as a view does.
package final class Follower<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var last: Value?
    var reads = 0
    var isEnded = false
  }

  private let read: @Sendable () -> Value
  private let state = Mutex(State())

  /// Reads and tracks something from now on.
  package init(_ read: @escaping @Sendable () -> Value) {
    self.read = read
    update()
  }

  /// The value of the last read.
  package var last: Value? { state.withLock { $0.last } }

  /// The number of reads.
  package var reads: Int { state.withLock { $0.reads } }

  /// Ends with the next change.
  package func end() { state.withLock { $0.isEnded = true } }

  private func update() {
    if state.withLock({ $0.isEnded }) { return }
    let value = withObservationTracking(read) { Task { self.update() } }
    state.withLock {
      $0.last = value
      $0.reads += 1
    }
  }
}
#endif
