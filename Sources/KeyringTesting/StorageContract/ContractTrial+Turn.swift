// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Keyring
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The trial of turns: changes that depend on the stored value are made one after another.
extension ContractTrial {
  private struct Failure: Error {}

  private var counter: StoredValue<Int> {
    storage[.value(service: service, account: "counter"), as: .value()]
  }

  private func token(_ account: String = "token") -> StoredValue<String> {
    storage[password(account)]
  }

  // MARK: - One after another

  func updatesTakeTurns() throws {
    let (callers, rounds) = (4, 8)
    let arrivals = Atomic(0)
    let running = Atomic(0)
    let overlaps = Atomic(0)
    let next = { @Sendable (old: Int?) -> Int in
      if running.add(1, ordering: .acquiringAndReleasing).newValue > 1 {
        overlaps.add(1, ordering: .relaxed)
      }
      // The others come meanwhile.
      while arrivals.load(ordering: .acquiring) < callers { _ = sched_yield() }
      for _ in 0..<100 { _ = sched_yield() }
      running.subtract(1, ordering: .acquiringAndReleasing)
      return (old ?? 0) + 1
    }
    let counter = counter
    let thread: @Sendable () throws -> Void = {
      arrivals.add(1, ordering: .acquiringAndReleasing)
      for _ in 0..<rounds { try counter.update(next) }
    }
    let task: @Sendable () throws -> Void = {
      arrivals.add(1, ordering: .acquiringAndReleasing)
      for _ in 0..<rounds { try Self.waiting { try await counter.update { old in next(old) } } }
    }
    try Self.concurrently([thread, task, thread, task])
    let count = overlaps.load(ordering: .relaxed)
    try expect(count == 0, "\(count) closures of updates ran while another one did")
    let stored = try counter.read()
    try expect(
      stored == callers * rounds,
      "\(callers * rounds) updates of \(callers) threads left \(stored.map(String.init) ?? "none")")
    try refreshHappensOnce(callers)
    try itemsHaveTurnsOfTheirOwn()
  }

  private func refreshHappensOnce(_ threads: Int) throws {
    let token = token()
    try token.write("old")
    let checks = Atomic(0)
    let closures = Atomic(0)
    let refresh: @Sendable () throws -> Void = {
      let isOld = { (value: String) in
        checks.add(1, ordering: .acquiringAndReleasing)
        return value == "old"
      }
      let found = try token.refresh(if: isOld) { _ in
        closures.add(1, ordering: .relaxed)
        // The others have found the old value.
        while checks.load(ordering: .acquiring) <= threads { _ = sched_yield() }
        return "new"
      }
      try expect(found == "new", "a thread that waited for a refresh got \(found ?? "nothing")")
    }
    try Self.concurrently(Array(repeating: refresh, count: threads))
    let count = closures.load(ordering: .relaxed)
    try expect(count == 1, "\(threads) threads that refresh one value ran \(count) closures")
    try expectStored("new", password("token"), "after a refresh")
  }

  private func itemsHaveTurnsOfTheirOwn() throws {
    let other = token("other")
    try whileUpdating(token()) {
      try other.update(turnTimeout: .seconds(10)) { _ in "other" }
    }
    try expectStored("other", password("other"), "after an update while another item had its turn")
  }

  // MARK: - Those who take no turn

  func plainWritesWin() throws {
    let token = token()
    var found: [String?] = []
    // The first write adds the item, and the second one replaces it.
    let stored = try token.update { old in
      found.append(old)
      if found.count < 3 { try token.write("theirs \(found.count)") }
      return (old ?? "nothing") + " and ours"
    }
    try expect(
      found == [nil, "theirs 1", "theirs 2"],
      "an update found \(found.map { $0 ?? "nothing" }) while another one wrote twice")
    try expect(stored == "theirs 2 and ours", "an update returned \(stored ?? "nothing")")
    try expectStored("theirs 2 and ours", password("token"), "after an update")

    let refreshed = try token.refresh(if: { $0 != "theirs" }) { _ in
      try token.write("theirs")
      return "ours"
    }
    try expect(refreshed == "theirs", "a refresh returned \(refreshed ?? "nothing")")
    try expectStored(
      "theirs", password("token"), "after a write in a refresh that it made needless")

    let removed = try token.update { _ in
      try token.remove()
      return "ours"
    }
    try expect(removed == nil, "an update of a removed item returned a value")
    try expect(!storage.exists(password("token")), "an update stored an item that was removed")

    let credential = credential()
    try credential.write(Credential(login: "ada", password: "first"))
    var calls = 0
    try credential.update { old in
      calls += 1
      if calls == 1 { try credential.write(Credential(login: "bob", password: "first")) }
      return old.map { Credential(login: $0.login, password: "second") }
    }
    let pair = try credential.read()
    try expect(
      pair?.login == "bob" && pair?.password == "second",
      "an update kept the login that another one had replaced")
  }

  // MARK: - Turns that end

  func endedTurnsLetOthersGo() throws {
    let token = token()
    try token.write("first")
    do {
      try token.update { _ in throw Failure() }
      throw violation("an update has no error of its closure")
    } catch is Failure {
      try expectStored("first", password("token"), "after a closure that threw")
    }
    try expectTurn(token, "after a closure that threw")

    do {
      try Self.waiting {
        try await token.update { _ in
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          throw CancellationError()
        }
      }
      throw violation("an update has no error of its closure")
    } catch is CancellationError {
      try expectTurn(token, "after a closure that was cancelled")
    }
    try waitersLeave(token)
    try expectTurn(token, "after others gave up")
    try expect(.invalidArgument, of: "an update in the closure of another one") {
      try token.update { _ in try token.update { _ in "inner" } }
    }
    try expectTurn(token, "after a refused update")
  }

  private func expectTurn(_ token: StoredValue<String>, _ moment: String) throws {
    do throws(SecureStorageError) {
      let turn = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
        try await storage.takeTurnWithoutBlocking(
          for: token.key, details: .secret, timeout: .seconds(10))
      }
      ThreadExecutor.runToEnd { await turn.end() }
    } catch {
      throw violation("\(moment) there was no turn: \(error)")
    }
  }

  /// Two callers give up while a third one keeps its turn.
  private func waitersLeave(_ token: StoredValue<String>) throws {
    try whileUpdating(token) {
      try expect(.timedOut, of: "an update that waits for too long") {
        try token.update(turnTimeout: .milliseconds(50)) { _ in "too early" }
      }
      try expect(.canceled, of: "an update that is cancelled while it waits") {
        try Self.waiting {
          let waiting = Task { try await token.update { _ in "too early" } }
          waiting.cancel()
          _ = try await waiting.value
        }
      }
    }
    try expectStored("first", password("token"), "after updates that gave up")
  }

  /// Runs a closure while an update, which changes nothing, has its turn.
  private func whileUpdating(
    _ token: StoredValue<String>, _ body: @escaping @Sendable () throws -> Void
  ) throws {
    let isInside = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    try Self.concurrently([
      {
        try token.update { old in
          isInside.signal()
          isDone.wait()
          // A closure that is called again doesn't wait.
          isDone.signal()
          return old
        }
      },
      {
        isInside.wait()
        defer { isDone.signal() }
        try body()
      },
    ])
  }

  private static func waiting(_ body: @Sendable () async throws -> Void) throws {
    try ThreadExecutor.runToEnd { () async throws in try await body() }
  }
}
