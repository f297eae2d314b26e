// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KeyringRuntime

/// A semaphore that gives waiting tasks their turns in order.
///
/// A task doesn't wait for another one that has given up.
@Suite(.timeLimit(.minutes(1))) struct TaskSemaphoreTests {
  private let semaphore = TaskSemaphore(2)

  private func waiting(_ count: Int, after others: Int) async -> Task<Waiter.Outcome, Never> {
    let semaphore = semaphore
    let task = Task { await semaphore.take(count, until: nil) }
    while semaphore.waitingCount <= others { await Task.yield() }
    return task
  }

  @Test(arguments: [
    (Duration.seconds(Int64.min), Int64(0)), (.seconds(-1), 0), (.milliseconds(1), 1000),
    (.seconds(Int64.max), Int64(1 << 30) * 1_000_000),
  ])
  func `the time to wait can have any length`(duration: Duration, microseconds: Int64) {
    #expect(duration.microseconds == microseconds)
  }

  @Test func `turns come in order`() async {
    #expect(await semaphore.take(2, until: nil) == .ended)
    let large = await waiting(2, after: 0)
    let small = await waiting(1, after: 1)
    semaphore.giveBack()
    #expect(semaphore.waitingCount == 2)
    semaphore.giveBack()
    #expect(await large.value == .ended)
    #expect(semaphore.waitingCount == 1)
    semaphore.giveBack(2)
    #expect(await small.value == .ended)
  }

  @Test func `a task that gives up lets the next one in`() async {
    #expect(await semaphore.take(until: nil) == .ended)
    let large = await waiting(2, after: 0)
    let small = await waiting(1, after: 1)
    large.cancel()
    #expect(await large.value == .canceled)
    #expect(await small.value == .ended)
  }

  @Test func `a wait that times out takes nothing`() async {
    #expect(await semaphore.take(2, until: nil) == .ended)
    #expect(await semaphore.take(until: .now(plus: .milliseconds(1))) == .timedOut)
    semaphore.giveBack(2)
    #expect(await semaphore.take(2, until: .now(plus: .seconds(10))) == .ended)
  }

  @Test func `a queue keeps its order`() {
    var queue = Queue<Int>()
    var taken: [Int] = []
    for number in 0..<3_000 {
      queue.append(number)
      if number % 3 == 2, let first = queue.popFirst() { taken.append(first) }
    }
    #expect(queue.count == 2_000)
    while let first = queue.popFirst() { taken.append(first) }
    #expect(taken == Array(0..<3_000))
    #expect(queue.isEmpty)
  }
}
