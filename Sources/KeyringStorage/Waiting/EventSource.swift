internal import Dispatch

/// The events that a thread waits for when it has no job.
///
/// Only ``wake()`` is called by other threads.
package protocol EventSource: AnyObject, Sendable {
  /// Prepares this thread to wait.
  func enter()

  /// Waits until there was an event, the moment has come or the thread is woken.
  ///
  /// - Parameter moment: The moment, in microseconds of the monotonic clock; `nil` for none.
  func wait(until moment: Int64?)

  /// Ends a wait, or the next one.
  func wake()

  /// Ends what ``enter()`` began.
  ///
  /// - Returns: Whether another call may use the source.
  func leave() -> Bool
}

/// The events of a thread that has none but to be woken.
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
