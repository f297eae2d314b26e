// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeyringPlatform
import Synchronization
import Testing

@testable import KeyringRuntime

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

  @Test func `without a thread, calls run on the thread that makes them, and waits end`() async {
    let attempts = Atomic(0)
    let shortage = Shortage(resource: .thread, number: EAGAIN)
    let executor = ThreadExecutor(threadNamed: "none") { _, _ in
      attempts.add(1, ordering: .relaxed)
      return shortage
    }
    #expect(await executor.run { () async in 1 } == 1)
    let outcome = await Waiter.wait(until: nil) { executor.end($0, at: .now(plus: .seconds(600))) }
    #expect(outcome == .failed(shortage))
    let count = attempts.load(ordering: .relaxed)
    #expect(count == 2)
  }

  @Test func `a thread of the library gets no signals of the program`() async {
    let blocked: [Bool] = await withCheckedContinuation { continuation in
      let shortage = ThreadExecutor.startThread(named: "signals") {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        let numbers = [SIGTERM, SIGINT, SIGCHLD, SIGUSR1, SIGALRM, SIGSEGV]
        continuation.resume(returning: numbers.map { sigismember(&mask, $0) == 1 })
      }
      #expect(shortage == nil)
    }
    #expect(blocked == [true, true, true, true, true, false])
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    #expect(sigismember(&mask, SIGSEGV) == 0)
  }

  @Test(
    .enabled(if: ForkedProcess.hasLostThreads == false, "this process is a fork without threads"))
  func `a forked process refuses calls at once`() throws {
    typealias Fork = @convention(c) () -> pid_t
    let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "fork"))
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 { _exit(ForkedProcess.hasLostThreads ? 7 : 8) }
    var status: Int32 = 0
    #expect(waitpid(child, &status, 0) == child)
    #expect(status == 7 << 8)
    #expect(!ForkedProcess.hasLostThreads)
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
