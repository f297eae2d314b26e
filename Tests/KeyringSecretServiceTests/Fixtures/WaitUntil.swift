#if SecretService && os(Linux)
import Glibc

/// Waits until a condition is true, for 10 seconds at most.
func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(10)
  repeat {
    if try condition() { return true }
    sched_yield()
  } while ContinuousClock.now < end
  return false
}
#endif
