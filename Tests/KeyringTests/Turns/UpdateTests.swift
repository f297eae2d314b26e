// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Changes that depend on the stored value.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct UpdateTests {
  private struct NoComparison: Codable, Sendable { var numbers: [String: Int] }

  private let storage = FaultyStorage()
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

  private var token: StoredValue<String> { storage[key] }

  // MARK: - What is stored

  @Test(arguments: [
    StorageContract.updatesTakeTurns, .plainWritesWin, .endedTurnsLetOthersGo, .newValuesAreShared,
  ])
  func `a storage of an author has the turns of the library`(rule: StorageContract) throws {
    try rule.verify(AuthorsStorage())
  }

  @Test(arguments: TurnStorage.allCases)
  func `an update adds, replaces and removes`(kind: TurnStorage) async throws {
    let token = kind.new[key]
    #expect(try blocking { try token.update { $0 ?? "first" } } == "first")
    #expect(try await token.update { old in await appended(old) } == "first, next")
    #expect(try await token.read() == "first, next")
    #expect(try blocking { try token.update { _ in nil } } == nil)
    #expect(try await !token.exists())
    #expect(try await token.update { _ in await appended(nil) } == "nothing, next")
    #expect(try await token.update { _ in nil } == nil)
    #expect(try await !token.exists())
    #expect(try blocking { try token.update { $0 } } == nil)
  }

  private func appended(_ old: String?) async -> String { (old ?? "nothing") + ", next" }

  @Test func `an equal value stores nothing`() throws {
    let events = try EventLog(of: storage)
    let list = storage[.value(service: "service", account: "list"), as: .value([String: Int].self)]
    let numbers = Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", $0) })
    let unequal = storage[
      .value(service: "service", account: "unequal"), as: .value(NoComparison.self)]
    let account = storage[.credentials(service: "service", label: "me"), as: .credential]
    try token.write("same")
    try list.write(numbers)
    try unequal.write(NoComparison(numbers: ["one": 1]))
    try account.write(Credential(login: "ada", password: "same"))
    storage.forgetCalls()
    #expect(try token.update { $0 } == "same")
    #expect(try token.refresh(if: { _ in true }) { $0 } == "same")
    // A dictionary has another order each time, and thus other bytes.
    #expect(try list.update { Dictionary(uniqueKeysWithValues: $0?.reversed() ?? []) } == numbers)
    #expect(try unequal.update { $0 }?.numbers == ["one": 1])
    #expect(try account.update { $0 } == Credential(login: "ada", password: "same"))
    #expect(try storage[other].update { $0 } == nil)
    #expect(storage.count(of: .save) + storage.count(of: .remove) == 0)
    try account.update { $0.map { Credential(login: "bob", password: $0.password) } }
    #expect(try account.read()?.login == "bob")
    events.wait(for: .changed(.replaced(account.key)))
    #expect(events.count == 5)
  }

  @Test func `an update keeps the label and the other attributes`() throws {
    try storage.save(
      SecureItem(key: key, secret: Secret("old"), label: "mine", attributes: ["note": "kept"]),
      mode: .add)
    try token.update { _ in "new" }
    let item = try storage.item(for: key)
    #expect(item?.label == "mine" && item?.attributes?["note"] == "kept")
  }

  @Test func `a value of another type is neither passed on nor replaced`() throws {
    try storage[key, as: .secret].write(Secret(bytes: [0xFF]))
    expectError(.undecodable) {
      try token.update { old in
        Issue.record("the closure ran")
        return old
      }
    }
    #expect(try storage.secret(for: key) == Secret(bytes: [0xFF]))
  }

  // MARK: - Other writers

  @Test(arguments: TurnStorage.allCases)
  func `after the eighth plain write, the update is an error`(kind: TurnStorage) async throws {
    let token = kind.new[key]
    try await token.write("0")
    var calls = 0
    let error = expectError(.timedOut, says: "Other programs kept changing the same item.") {
      try token.update { _ in
        calls += 1
        try token.write("\(calls)")
        return "mine"
      }
    }
    #expect(error?.operation == .save)
    #expect(calls == 8)
    #expect(try await token.read() == "8")
    // The turn has ended.
    #expect(try await token.update(turnTimeout: .seconds(10)) { _ in "mine" } == "mine")
  }

  // MARK: - Waiting

  @Test(arguments: TurnStorage.allCases)
  func `the error after a wait says who keeps its turn`(kind: TurnStorage) async throws {
    let storage = kind.new
    let (key, other) = (key, other)
    try await storage[key].update { _ in
      // Another task, so that it isn't a turn within a turn.
      let waiting = Task.detached {
        let error = await expectError(.timedOut, says: "Another call of this process has its turn")
        {
          try await storage[key].update(turnTimeout: .milliseconds(20)) { _ in "too early" }
        }
        #expect(error?.operation == .takeTurn)
        // The items of other keys have turns of their own.
        try await storage[other].update(turnTimeout: .seconds(10)) { _ in "other" }
      }
      try await waiting.value
      return "first"
    }
    #expect(try await storage[key].read() == "first")
    #expect(try await storage[other].read() == "other")
    // The one who has given up isn't in the queue any more.
    try await storage[key].update(turnTimeout: .seconds(10)) { _ in "next" }
  }

  @Test func `those who wait come in their order`() async throws {
    let (storage, token) = (storage, token)
    let (isRunning, mayEnd) = (SharedOutcome<Void>(), SharedOutcome<Void>())
    var tasks = [
      Task {
        try await token.update { _ in
          isRunning.settle(())
          _ = await mayEnd.wait(until: nil)
          return ""
        }
      }
    ]
    _ = await isRunning.wait(until: nil)
    for number in 1...8 {
      tasks.append(Task { try await token.update { ($0 ?? "") + "\(number)" } })
      #expect(await waitUntil { storage.count(of: .takeTurn) == number + 1 })
      // The call is counted just before it's in the queue.
      for _ in 0..<100 { await Task.yield() }
    }
    mayEnd.settle(())
    for task in tasks { _ = try await task.value }
    #expect(try await token.read() == "12345678")
  }

  // MARK: - Turns within turns

  @Test(arguments: TurnStorage.allCases)
  func `an update in the closure of another one is an error`(kind: TurnStorage) async throws {
    let storage = kind.new
    let (key, other) = (key, other)
    for inner in [key, other] {
      try blocking {
        try storage[key].update { _ in
          let error = expectError(.invalidArgument) { try storage[inner].update { _ in "inner" } }
          #expect(error?.recoverySuggestion?.isEmpty == false)
          return "outer"
        }
      }
      try await storage[key].update { _ in
        await expectError(.invalidArgument) { try await storage[inner].update { _ in "inner" } }
        try await storage[inner].write("stale")
        await expectError(.invalidArgument) {
          try await storage[inner].refresh(if: { _ in true }) { _ in "inner" }
        }
        // A task that the closure waits for belongs to it.
        await expectError(.invalidArgument) {
          async let child = storage[inner].update { _ in "inner" }
          return try await child
        }
        return "outer again"
      }
    }
    #expect(try await storage[key].read() == "outer again")
    #expect(try await storage[other].read() == "stale")
  }

  @Test(arguments: TurnStorage.allCases)
  func `a task that outlives the closure may update`(kind: TurnStorage) async throws {
    let storage = kind.new
    let (key, isOver) = (key, SharedOutcome<Void>())
    let tasks = Mutex<[Task<String?, any Error>]>([])
    let follow = { @Sendable in
      let task = Task {
        _ = await isOver.wait(until: nil)
        return try await storage[key].update { ($0 ?? "") + " later" }
      }
      tasks.withLock { $0.append(task) }
    }
    try await storage[key].update { _ in
      follow()
      await Task.yield()
      return "first"
    }
    try blocking {
      try storage[key].update { old in
        follow()
        return old
      }
    }
    isOver.settle(())
    for task in tasks.withLock({ $0 }) { _ = try await task.value }
    #expect(try await storage[key].read() == "first later later")
  }

  @Test(arguments: TurnStorage.allCases)
  func `the closure may read, write and generate other values`(kind: TurnStorage) async throws {
    let storage = kind.new
    let (token, other) = (storage[key], storage[other])
    let stored = try blocking {
      try token.update { _ in
        try other.write("written")
        let read = try other.read() ?? "nothing"
        let third = storage[.password(service: "service", account: "third")]
        return try read + ", " + third.readOrStore { "generated" }
      }
    }
    #expect(stored == "written, generated")
    // Blocking calls in an asynchronous closure, as in a synchronous function that it calls
    let next = try await token.update { _ in
      await Task.yield()
      let fourth = storage[.password(service: "service", account: "fourth")]
      let read = try blocking { try other.read() ?? "nothing" }
      return try await read + ", " + fourth.readOrStore { "generated" }
    }
    #expect(next == "written, generated")
    // One that stores the same item is another writer.
    try await token.remove()
    let last = try blocking {
      try token.update { old in try old ?? token.readOrStore { "generated" } + " by another one" }
    }
    #expect(last == "generated")
  }

  /// The thread waits for the closure, and the task waits with it.
  @Test(arguments: TurnStorage.allCases)
  func `the blocking form works in asynchronous code`(kind: TurnStorage) async throws {
    let token = kind.new[key]
    func increase() throws { try token.update { "\(($0.flatMap { Int($0) } ?? 0) + 1)" } }
    try increase()
    await Task.yield()
    try increase()
    try await token.update { old in
      // The closure is a synchronous one, in a task.
      old.map { $0 + "0" }
    }
    #expect(try await token.read() == "20")
  }
}
