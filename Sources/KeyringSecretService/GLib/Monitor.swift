#if SecretService && os(Linux)
internal import CLibSecret

/// A lock with a condition to wait for, which is what `Mutex` lacks: waiting ends by a deadline.
final class Monitor<State: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
    g_mutex_init(mutex)
    g_cond_init(condition)
  }

  deinit {
    g_cond_clear(condition)
    g_mutex_clear(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Changes the state and wakes everybody who waits for it to be different.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    g_mutex_lock(mutex)
    defer {
      g_cond_broadcast(condition)
      g_mutex_unlock(mutex)
    }
    return body(&state)
  }

  /// Waits until the state yields a value.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - body: Called under the lock, again after each change; `nil` means wait.
  /// - Returns: The value, or `nil` when the deadline passed or the task was cancelled.
  func wait<Result>(until deadline: Deadline, for body: (inout State) -> Result?) -> Result? {
    let wake: @Sendable () -> Void = { self.withLock { _ in } }
    return deadline.waking(by: wake) {
      g_mutex_lock(mutex)
      defer { g_mutex_unlock(mutex) }
      while true {
        if let result = body(&state) { return result }
        if deadline.failure != nil { return nil }
        _ = g_cond_wait_until(condition, mutex, gint64(deadline.end))
      }
    }
  }
}
#endif
