// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The trial of threads: any number of them use the storage at the same time.
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
}
