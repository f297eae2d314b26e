// SPDX-License-Identifier: Apache-2.0

extension Waiter {
  /// Waits for the end of the waiter, for a moment, or for the cancellation of the task.
  ///
  /// - Parameters:
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock, or `nil` for any
  ///     time.
  ///   - start: A closure that is called at once with the waiter that ends the wait.
  /// - Returns: The outcome of the wait.
  package nonisolated(nonsending) static func wait(until moment: Int64?, _ start: (Waiter) -> Void)
    async -> Outcome
  {
    if Task.isCancelled { return .canceled }
    if let moment, moment <= ThreadExecutor.now { return .timedOut }
    let waiter = Waiter()
    start(waiter)
    if let moment, !waiter.isOver {
      (ThreadExecutor.ofCurrentTask ?? .ofOthers).end(waiter, at: moment)
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter.park($0) }
    } onCancel: {
      waiter.end(.canceled)
    }
  }
}
