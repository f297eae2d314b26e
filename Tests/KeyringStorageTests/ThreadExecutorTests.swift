// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeyringLibc
import Testing

@testable import KeyringStorage

/// The thread of a synchronous operation, which runs only that operation's steps.
@Suite(.timeLimit(.minutes(1))) struct ThreadExecutorTests {
  /// An actor that has a call of another task in its queue when it has served an operation.
  private actor Desk {
    private(set) var other: Task<Waiter.Outcome, Never>?

    func wait() async -> Waiter.Outcome {
      await Waiter.wait(until: .now(plus: .milliseconds(100))) { _ in }
    }

    func serve() {
      other = Task { await self.wait() }
      usleep(100_000)
    }
  }

  @Test func `a call of another task keeps its time limit`() async throws {
    let desk = Desk()
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "operation").async {
        ThreadExecutor.runToEnd { await desk.serve() }
        continuation.resume()
      }
    }
    let other = try #require(await desk.other)
    let limit = Task {
      try await Task.sleep(for: .seconds(10))
      other.cancel()
    }
    #expect(await other.value == .timedOut)
    limit.cancel()
  }
}
