// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Keyring
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

// Rule 9: any number of threads.
extension ContractTrial {
  func threadsLoseNothing() throws {
    let threads = 4
    let rounds = 10
    try Self.concurrently(
      (0..<threads).map { thread in
        {
          for round in 0..<rounds {
            try save("own \(thread) \(round)", password("own \(thread) \(round)"), mode: .add)
            try save("shared", password("shared \(round)"))
          }
        }
      })
    let count = try storage.items(matching: .service(service)).count
    let expected = threads * rounds + rounds
    try expect(count == expected, "\(threads) threads left \(count) items instead of \(expected)")
    for thread in 0..<threads {
      for round in 0..<rounds {
        let key = password("own \(thread) \(round)")
        try expectStored("own \(thread) \(round)", key, "after writing from \(threads) threads")
      }
    }
    try additionHappensOnce(threads)
    try passingItemsHideNoOthers()
  }

  private func passingItemsHideNoOthers() throws {
    let kept = ["one", "two", "three"]
    @Sendable func key(_ account: String) -> ItemKey {
      .password(service: otherService, account: account)
    }
    for account in kept { try save(account, key(account)) }
    let passing = Atomic(3)
    let pass = { @Sendable (number: Int) throws in
      defer { passing.subtract(1, ordering: .releasing) }
      for _ in 0..<20 {
        try save("passing", key("passing \(number)"))
        try storage.remove(key("passing \(number)"))
      }
    }
    try Self.concurrently([
      { try pass(1) }, { try pass(2) }, { try pass(3) },
      {
        repeat {
          let items = try storage.items(matching: .service(otherService, details: .secret))
          let found = Set(items.compactMap(\.secret?.text)).subtracting(["passing"])
          try expect(found == Set(kept), "a search found \(found) beside items that came and went")
        } while passing.load(ordering: .acquiring) > 0
      },
    ])
  }

  private func additionHappensOnce(_ threads: Int) throws {
    let successes = Atomic(0)
    let add: @Sendable () throws -> Void = {
      do throws(SecureStorageError) {
        try save("added", password("added once"), mode: .add)
        successes.add(1, ordering: .relaxed)
      } catch {
        guard error.code == .itemAlreadyExists else { throw error }
      }
    }
    try Self.concurrently(Array(repeating: add, count: threads))
    let count = successes.load(ordering: .relaxed)
    try expect(count == 1, "of \(threads) threads adding one item \(count) succeeded")
  }

  func newValuesAreShared() throws {
    let storage = storage
    for round in 0..<8 {
      let key = password("shared \(round)")
      let found = Mutex<[String]>([])
      let thread: @Sendable () throws -> Void = {
        let value = try storage[key].readOrStore { .randomToken() }
        found.withLock { $0.append(value) }
      }
      let task: @Sendable () throws -> Void = {
        let value = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
          try await storage[key].readOrStore { .randomToken() }
        }
        found.withLock { $0.append(value) }
      }
      try Self.concurrently([thread, task, thread, task])
      let values = found.withLock { $0 }
      try expect(Set(values).count == 1, "threads that stored a new value got different ones")
      try expectStored(values[0], key, "after threads stored a new value")
      // A value that is there is never replaced.
      let last = try storage[key].readOrStore { "another" }
      try expect(last == values[0], "a stored value was replaced by a new one")
    }
  }

  func callsReadOneVersion() throws {
    guard storage.readsOneVersion else { return }
    let keys = [password("first"), password("second")]
    for key in keys { try save("0", key) }
    let isDone = Atomic(false)
    let reading = Atomic(3)
    let write = { @Sendable () throws in
      defer { isDone.store(true, ordering: .releasing) }
      var number = 0
      // A quick storage could be done before the first reader begins.
      repeat {
        number += 1
        for key in keys { try save("\(number)", key) }
      } while number < 40 || reading.load(ordering: .acquiring) > 0
    }
    @Sendable func read(_ body: () throws -> [ItemKey: SecureItem]) throws {
      var calls = 0
      defer { if calls < 10 { reading.subtract(1, ordering: .releasing) } }
      repeat {
        let items = try body()
        let numbers = keys.map { key in items[key]?.secret?.text.flatMap { Int($0) } ?? -1 }
        try expect(
          numbers[0] >= 0 && (0...1).contains(numbers[0] - numbers[1]),
          "a call found \(numbers) in items that are written one after the other")
        calls += 1
        if calls == 10 { reading.subtract(1, ordering: .releasing) }
      } while !isDone.load(ordering: .acquiring)
    }
    let byKeys = { @Sendable () throws in
      // The absent ones give a storage that finds one after the other time to find the two in different versions.
      let absent = (0..<50).map { password("absent \($0)") }
      try read { try storage.items(for: [keys[0]] + absent + [keys[1]], details: .secret) }
    }
    let all = { @Sendable () throws in
      try read {
        let items = try storage.items(matching: .service(service, details: .secret))
        return Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) })
      }
    }
    try Self.concurrently([write, byKeys, byKeys, all])
  }

  func lockingLosesNothing() throws {
    try save("0", password())
    let isLocking = Atomic(true)
    let tries = Atomic(0)
    let lock: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      for _ in 0..<10 {
        Self.wait(for: tries, while: isLocking)
        try whileLocked { _ in Self.wait(for: tries, while: isLocking) }
      }
    }
    let read: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      repeat {
        let text = try unlessLocked { try secret(password())?.text ?? "nothing" }
        try expect(text.map { Int($0) != nil } ?? true, "a reader found \(text ?? "")")
      } while isLocking.load(ordering: .acquiring)
    }
    let write: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      var number = 0
      var isWritten = false
      repeat {
        // Nothing else is written before the last value was read back, so that a loss is noticed.
        let found = try unlessLocked { try secret(password())?.text ?? "nothing" }
        if let found, isWritten { try expect(found == "\(number)", "a written value is lost") }
        if found != nil || !isWritten {
          number += 1
          isWritten = try unlessLocked { try save("\(number)", password()) } != nil
        }
        tries.add(1, ordering: .acquiringAndReleasing)
      } while isLocking.load(ordering: .acquiring)
    }
    try Self.concurrently([lock, read, write])
  }

  private func unlessLocked<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as SecureStorageError where error.code == .locked {
      return nil
    }
  }

  /// Waits until the other thread has tried two more times or has stopped.
  private static func wait(
    for tries: borrowing Atomic<Int>, while isGoingOn: borrowing Atomic<Bool>
  ) {
    let enough = tries.load(ordering: .acquiring) + 2
    while isGoingOn.load(ordering: .acquiring), tries.load(ordering: .acquiring) < enough {
      sched_yield()
    }
  }

  /// Runs closures at the same time, each on its own thread, and waits for all of them.
  ///
  /// Storages block their thread, so tasks, which share the threads of the cooperative pool, aren't
  /// suitable.
  static func concurrently(_ bodies: [@Sendable () throws -> Void]) throws {
    let group = DispatchGroup()
    let started = Atomic(0)
    let failure = Mutex<(any Error)?>(nil)
    for body in bodies {
      // Dispatch gives each serial queue its own thread.
      DispatchQueue(label: "StorageContract").async(group: group) {
        started.add(1, ordering: .acquiringAndReleasing)
        while started.load(ordering: .acquiring) < bodies.count { _ = sched_yield() }
        do {
          try body()
        } catch {
          failure.withLock { $0 = $0 ?? error }
        }
      }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  func bothFormsAgree() throws {
    try save("value", password())
    let (storage, key) = (storage, password())
    let (secret, diagnosis) = try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      (try await storage.secret(for: key), try await storage.diagnose())
    }
    try expect(try storage.secret(for: key) == secret, "an await read another secret")
    let states = [storage.diagnose(), diagnosis].map { diagnosis in
      diagnosis.findings.map { "\($0.subject): \($0.state)" }
    }
    try expect(
      states[0] == states[1], "a diagnosis found \(states[0]), and with await \(states[1])")
  }
}
