// SPDX-License-Identifier: Apache-2.0

/// A source of events for which a thread waits when it has no job.
///
/// Other threads call only ``wake()``.
package protocol EventSource: AnyObject, Sendable {
  /// Prepares this thread to wait.
  func enter()

  /// Waits for an event, a moment, or a wakening.
  ///
  /// - Parameter moment: The moment, in microseconds of the monotonic clock, or `nil` for any time.
  func wait(until moment: Int64?)

  /// Ends the current wait, or the next one.
  func wake()

  /// Ends the use of the source that ``enter()`` began.
  func leave()
}
