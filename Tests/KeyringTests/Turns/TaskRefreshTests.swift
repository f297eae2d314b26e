// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

/// Tasks that keep the same token valid while they are cancelled.
@Suite(.tags(.kills, .threads), .timeLimit(.minutes(5))) struct TaskRefreshTests {
  /// A server that takes each token once.
  private final class Server: Sendable {
    struct State {
      var last = 1
      var issued = ContinuousClock.now
      var used: Set<Int> = []
      var isBusy = false
      var faults: [String] = []
    }

    let state = Mutex(State())

    var last: Int { state.withLock { $0.last } }

    func isExpired(_ token: Int) -> Bool {
      state.withLock { token < $0.last || ContinuousClock.now - $0.issued > .milliseconds(1) }
    }

    func next(after token: Int) async -> Int {
      state.withLock { state in
        if state.isBusy { state.faults.append("two requests at once") }
        state.isBusy = true
        if !state.used.insert(token).inserted { state.faults.append("\(token) was sent twice") }
      }
      // A cancellation doesn't stop the server.
      for _ in 0..<10 { await Task.yield() }
      return state.withLock { state in
        state.isBusy = false
        state.issued = .now
        state.last += 1
        return state.last
      }
    }
  }

  @Test(arguments: TurnStorage.allCases)
  func `each token is sent once, although tasks are cancelled`(kind: TurnStorage) async throws {
    let server = Server()
    let token = kind.new[.value(service: "service", account: "token"), as: .value(Int.self)]
    try await token.write(1)
    let start = {
      Task {
        while true {
          try await token.refresh(if: server.isExpired) { old in
            try Task.checkCancellation()
            return await server.next(after: old)
          }
          // The other tasks need the thread, too.
          try await Task.sleep(for: .microseconds(100))
        }
      }
    }
    var tasks = (0..<5).map { _ in start() }
    var cancellations = 0
    while server.last <= RefreshTrial.refreshes {
      let index = Int.random(in: 0..<tasks.count)
      tasks[index].cancel()
      cancellations += 1
      expectCanceled(await tasks[index].result)
      tasks[index] = start()
      let last = server.last
      try #require(await waitUntil { server.last > last })
    }
    for task in tasks {
      task.cancel()
      expectCanceled(await task.result)
    }
    #expect(server.state.withLock { $0.faults } == [])
    #expect(try await token.read() == server.last)
    // Nobody has kept the turn.
    try await token.refresh(if: { _ in true }, turnTimeout: .seconds(10)) { $0 + 1 }
    print("\(kind): \(server.last - 1) refreshes, \(cancellations) cancellations")
  }

  private func expectCanceled(_ result: Result<Void, any Error>) {
    let isCanceled =
      switch result {
      case .success: false
      case .failure(let error as SecureStorageError): error.code == .canceled
      case .failure(let error): error is CancellationError
      }
    #expect(isCanceled, "\(result)")
  }
}
