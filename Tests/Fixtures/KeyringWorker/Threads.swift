// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dispatch
import Glibc
import Synchronization

/// Runs a closure on several threads that begin at the same moment, and waits for all of them.
func concurrently(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) throws {
  let group = DispatchGroup()
  let ready = Atomic(0)
  let failure = Mutex<(any Error)?>(nil)
  for thread in 0..<count {
    // Dispatch gives each serial queue a thread of its own.
    DispatchQueue(label: "KeyringWorker").async(group: group) {
      ready.add(1, ordering: .acquiringAndReleasing)
      while ready.load(ordering: .acquiring) < count { _ = sched_yield() }
      do {
        try body(thread)
      } catch {
        failure.withLock { $0 = $0 ?? error }
      }
    }
  }
  group.wait()
  if let error = failure.withLock({ $0 }) { throw error }
}

/// Runs a closure in a task, and waits for it on this thread.
func waitForTask<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws
  -> Value
{
  let outcome = Mutex<Result<Value, any Error>?>(nil)
  let isDone = DispatchSemaphore(value: 0)
  Task {
    do {
      let value = try await body()
      outcome.withLock { $0 = .success(value) }
    } catch {
      outcome.withLock { $0 = .failure(error) }
    }
    isDone.signal()
  }
  isDone.wait()
  guard let result = outcome.withLock({ $0 }) else { throw WorkerFailure("the task has no end") }
  return try result.get()
}
#endif
