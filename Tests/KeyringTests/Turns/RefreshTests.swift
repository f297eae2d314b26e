// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// Values that are renewed once for all who ask.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct RefreshTests {
  struct Failure: Error {}

  private let storage = FaultyStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  private var token: StoredValue<String> { storage[key] }

  // MARK: - Values that need no renewal

  @Test func `a valid value costs one read and runs no closure`() async throws {
    try await token.write("valid")
    let hourly = storage[key, as: .text.expiring(after: .seconds(3600))]
    for refresh in [
      { () throws in try token.refresh(if: { _ in false }, never) },
      { () throws in try hourly.refresh(within: .seconds(60), never) },
    ] {
      storage.forgetCalls()
      #expect(try refresh() == "valid")
      #expect(storage.calls.map(\.operation) == [.read])
    }
    storage.forgetCalls()
    #expect(try await token.refresh(if: { _ in false }) { try await neverWaiting($0) } == "valid")
    #expect(storage.calls.map(\.operation) == [.read])
    storage.forgetCalls()
    #expect(
      try await hourly.refresh(within: .seconds(60)) { try await neverWaiting($0) } == "valid")
    #expect(storage.calls.map(\.operation) == [.read])
  }

  @Test func `a missing value isn't renewed`() async throws {
    let hourly = storage[key, as: .text.expiring(after: .seconds(3600))]
    #expect(try blocking { try token.refresh(if: { _ in true }, never) } == nil)
    #expect(try blocking { try hourly.refresh(within: .seconds(60), never) } == nil)
    #expect(try await token.refresh(if: { _ in true }) { try await neverWaiting($0) } == nil)
    #expect(
      try await hourly.refresh(within: .seconds(60)) { try await neverWaiting($0) } == nil)
    #expect(storage.calls.map(\.operation) == [.read, .read, .read, .read])
  }

  @Test func `an error of the read is thrown`() async throws {
    storage.fail(.read, with: .locked)
    expectError(.locked) { try token.refresh(if: { _ in true }, never) }
    await expectError(.locked) {
      try await token.refresh(if: { _ in true }) { try await neverWaiting($0) }
    }
  }

  private func never(_ old: String) -> String? {
    Issue.record("the closure ran")
    return old
  }

  private func neverWaiting(_ old: String) async throws -> String? { never(old) }

  // MARK: - One closure

  @Test(arguments: TurnStorage.allCases)
  func `each form stores what its closure returns`(kind: TurnStorage) async throws {
    let token = kind.new[key]
    try await token.write("old")
    let first = try blocking { try token.refresh(if: { $0 == "old" }) { $0 + " renewed" } }
    #expect(first == "old renewed")
    #expect(try await token.read() == "old renewed")
    let last = try await token.refresh(if: { $0 != "old" }) { old in
      await Task.yield()
      return old + " again"
    }
    #expect(last == "old renewed again")
    #expect(try blocking { try token.read() } == last)
    // A closure that returns nothing removes the item.
    #expect(try await token.refresh(if: { _ in true }) { _ in nil } == nil)
    #expect(try await !token.exists())
  }

  @Test func `each kind of value is renewed`() async throws {
    let account = storage[.credentials(service: "service", label: "me"), as: .credential]
    try await account.write(Credential(login: "ada", password: "old"))
    let renewed = Credential(login: "ada", password: "new")
    try await account.refresh(if: { $0.password == "old" }) { _ in renewed }
    #expect(try await account.read() == renewed)
    let list = storage.service("service").value("list", as: [Int].self)
    try await list.write([1])
    #expect(try await list.refresh(if: { $0.count < 2 }) { await $0 + next() } == [1, 2])
    #expect(try await list.read() == [1, 2])
    let secret = storage[key, as: .secret]
    try await secret.write(Secret("old"))
    try await secret.refresh(if: { $0 == Secret("old") }) { _ in Secret("new") }
    #expect(try await secret.read() == Secret("new"))
  }

  private func next() async -> [Int] { [2] }

  // MARK: - Closures that fail

  /// The others have read the old value, and find it again when their turn comes.
  @Test func `the next one in the queue runs its closure after one that throws`() async throws {
    try await token.write("old")
    let (token, storage) = (token, storage)
    let (isRunning, mayEnd) = (SharedOutcome<Void>(), SharedOutcome<Void>())
    let failing = Task {
      try await token.refresh(if: { $0 == "old" }) { _ in
        isRunning.settle(())
        _ = await mayEnd.wait(until: nil)
        throw Failure()
      }
    }
    _ = await isRunning.wait(until: nil)
    let next = Task { try await token.refresh(if: { $0 == "old" }) { _ in "new" } }
    #expect(await waitUntil { storage.count(of: .takeTurn) == 2 })
    mayEnd.settle(())
    await #expect(throws: Failure.self) { try await failing.value }
    #expect(try await next.value == "new")
  }

  // MARK: - Other writers

  @Test(arguments: TurnStorage.allCases)
  func `the condition is checked again after a plain write in the closure`(
    kind: TurnStorage
  ) async throws {
    let token = kind.new[key]
    try await token.write("old")
    var calls = 0
    let found = try blocking {
      try token.refresh(if: { $0 == "old" }) { _ in
        calls += 1
        try token.write("theirs")
        return "mine"
      }
    }
    #expect(found == "theirs" && calls == 1)
    let next = try await token.refresh(if: { $0 != "mine" }) { old in
      calls += 1
      if old == "theirs" { try await token.write("theirs again") }
      return "mine"
    }
    #expect(next == "mine" && calls == 3)
    #expect(try await token.read() == "mine")
  }
}
