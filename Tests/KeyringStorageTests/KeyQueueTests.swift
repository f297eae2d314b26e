// SPDX-License-Identifier: Apache-2.0

import KeyringRuntime
import KeyringStorage
import TestPrograms
import Testing

/// The queues in which callers of one process wait, one for each key.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct KeyQueueTests {
  private let queue = KeyQueue()
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

  private var later: Int64 { .now(plus: .seconds(60)) }

  @Test func `callers of one key wait, and those of another don't`() async {
    #expect(await queue.join(key, until: later) == .ended)
    #expect(await queue.join(other, until: later) == .ended)
    #expect(await queue.join(key, until: .now(plus: .milliseconds(1))) == .timedOut)
    let (queue, key, later) = (queue, key, later)
    let waiting = Task { await queue.join(key, until: later) }
    queue.leave(key)
    #expect(await waiting.value == .ended)
    #expect(await queue.join(key, until: .now(plus: .milliseconds(1))) == .timedOut)
    queue.leave(key)
    #expect(await queue.join(key, until: later) == .ended)
  }

  @Test func `one who is cancelled lets the others go on`() async {
    let (queue, key, later) = (queue, key, later)
    #expect(await queue.join(key, until: later) == .ended)
    let canceled = Task { await queue.join(key, until: later) }
    let next = Task { await queue.join(key, until: later) }
    canceled.cancel()
    #expect(await canceled.value == .canceled)
    queue.leave(key)
    #expect(await next.value == .ended)
    queue.leave(key)
    // Nobody is left in it.
    #expect(await queue.join(key, until: later) == .ended)
  }

  @Test func `any number of tasks are first one after another`() async {
    let (queue, key, later) = (queue, key, later)
    let first = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        group.addTask {
          #expect(await queue.join(key, until: later) == .ended)
          await first.enter()
          await Task.yield()
          await first.leave()
          queue.leave(key)
        }
      }
    }
    #expect(await first.most == 1)
  }

  private actor Counter {
    private var now = 0
    private(set) var most = 0

    func enter() {
      now += 1
      most = max(most, now)
    }

    func leave() { now -= 1 }
  }
}
