// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import KeyringRuntime

/// The threads of operations that block.
@Suite struct BlockingPoolTests {
  private final class Attempts: Sendable {
    let whileStarting = Mutex<(@Sendable () -> Void)?>(nil)
    let ran = Mutex<[String]>([])

    /// Starts no thread, like a system that has too many.
    func start() -> Bool {
      let body = whileStarting.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
      return false
    }
  }

  @Test func `no call is forgotten if no thread can be started`() {
    let attempts = Attempts()
    let pool = BlockingPool(most: 64) { _ in attempts.start() }
    // Both calls wait for a thread of the other one, until neither can be started.
    attempts.whileStarting.withLock {
      $0 = { pool.run { attempts.ran.withLock { $0.append("second") } } }
    }
    pool.run { attempts.ran.withLock { $0.append("first") } }
    #expect(attempts.ran.withLock { $0 } == ["first", "second"])
  }

  @Test func `a call doesn't wait for another one that blocks`() throws {
    let pool = BlockingPool(most: 64)
    // After the first calls, threads are idle.
    for _ in 0..<100 {
      let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      pool.run { first.wait() }
      pool.run { second.signal() }
      let outcome = second.wait(timeout: .now() + 30)
      first.signal()
      try #require(outcome == .success)
    }
  }
}
