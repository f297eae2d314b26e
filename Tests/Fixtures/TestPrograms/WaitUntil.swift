// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Glibc

/// Waits until a condition is true, for a minute at most.
package func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  repeat {
    if try condition() { return true }
    // The program that is waited for needs the processor.
    usleep(1000)
  } while ContinuousClock.now < end
  return false
}

/// Waits until a condition is true, for a minute by default, and leaves the thread to other tasks.
package func waitUntil(
  within time: Duration = .seconds(60), _ condition: () throws -> Bool
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
