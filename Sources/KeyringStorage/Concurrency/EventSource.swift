// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A source of events for which a thread waits when it has no job.
///
/// Other threads call only ``wake()``.
package protocol EventSource: AnyObject, Sendable {
  /// Prepares this thread to wait.
  func enter()

  /// Waits until there is an event, a given time has come, or the thread is woken.
  ///
  /// - Parameter moment: The moment, in microseconds of the monotonic clock, or `nil` to wait without a
  ///   limit.
  func wait(until moment: Int64?)

  /// Ends the current wait, or the next one.
  func wake()

  /// Ends the use of the source that ``enter()`` began.
  ///
  /// - Returns: `true` if another call may use the source.
  func leave() -> Bool
}

/// An event source whose only event is being woken.
package final class Wakening: EventSource {
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  package func enter() {}

  package func wait(until moment: Int64?) {
    let end = moment.map { DispatchTime(uptimeNanoseconds: UInt64(max(0, $0)) * 1000) }
    _ = semaphore.wait(timeout: end ?? .distantFuture)
  }

  package func wake() { semaphore.signal() }

  package func leave() -> Bool { true }
}
