// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Glibc

/// Waits until a condition is true, for 30 seconds at most.
package func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(30)
  repeat {
    if try condition() { return true }
    sched_yield()
  } while ContinuousClock.now < end
  return false
}

/// Waits until a condition is true, for 30 seconds by default, and leaves the thread to other tasks.
package func waitUntil(
  within time: Duration = .seconds(30), _ condition: () throws -> Bool
) async rethrows -> Bool {
  let end = ContinuousClock.now + time
  repeat {
    if try condition() { return true }
    // If the task is cancelled, the condition is still what counts.
    try? await Task.sleep(for: .milliseconds(1))
  } while ContinuousClock.now < end
  return false
}
#endif
