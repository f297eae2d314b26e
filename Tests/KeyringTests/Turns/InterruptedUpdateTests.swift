// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Updates that are cancelled, whose store fails, or whose turn ends.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct InterruptedUpdateTests {
  private let storage = FaultyStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  private var token: StoredValue<String> { storage[key] }

  // MARK: - Cancellation

  @Test func `one who is cancelled leaves the queue`() async throws {
    let (storage, token) = (storage, token)
    let (isRunning, mayEnd) = (SharedOutcome<Void>(), SharedOutcome<Void>())
    let first = Task {
      try await token.update { _ in
        isRunning.settle(())
        _ = await mayEnd.wait(until: nil)
        return "first"
      }
    }
    _ = await isRunning.wait(until: nil)
    let canceled = Task {
      try await token.update { _ in
        Issue.record("the closure ran")
        return "never"
      }
    }
    #expect(await waitUntil { storage.count(of: .takeTurn) == 2 })
    let third = Task { try await token.update { ($0 ?? "nothing") + ", third" } }
    #expect(await waitUntil { storage.count(of: .takeTurn) == 3 })
    canceled.cancel()
    // The first one still has its turn.
    let error = await expectError(.canceled) { try await canceled.value }
    #expect(error?.operation == .takeTurn)
    mayEnd.settle(())
    #expect(try await first.value == "first")
    #expect(try await third.value == "first, third")
  }

  @Test func `a cancelled task begins no update`() async throws {
    let token = token
    let canceled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await token.update { _ in "never" }
    }
    await expectError(.canceled) { try await canceled.value }
    let signal = Cancellation()
    signal.cancel()
    Cancellation.$current.withValue(signal) {
      _ = expectError(.canceled) { try token.update { _ in "never" } }
    }
    #expect(try await token.read() == nil)
    #expect(try await token.update(turnTimeout: .seconds(10)) { _ in "next" } == "next")
  }

  @Test func `a cancellation reaches the closure, which decides`() async throws {
    let token = token
    try await token.write("old")
    for isObeyed in [true, false] {
      let isRunning = SharedOutcome<Void>()
      let task = Task {
        try await token.update { _ in
          isRunning.settle(())
          #expect(await waitUntil { Task.isCancelled })
          if isObeyed { throw CancellationError() }
          return "new"
        }
      }
      _ = await isRunning.wait(until: nil)
      task.cancel()
      if isObeyed {
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await token.read() == "old")
      } else {
        // A value that the closure returns is stored.
        #expect(try await task.value == "new")
        #expect(try await token.read() == "new")
      }
    }
  }

  @Test(arguments: [SecureStorageError.Operation.save, .remove])
  func `a cancellation doesn't stop the store`(operation: SecureStorageError.Operation) async throws
  {
    let (storage, token) = (storage, token)
    try await token.write("old")
    let gate = storage.suspend(operation)
    let new = operation == .save ? "new" : nil
    let task = Task { try await token.update { _ in new } }
    await gate.waitForCall()
    task.cancel()
    gate.open()
    #expect(try await task.value == new)
    #expect(try await token.read() == new)
  }

  /// The first store was done, so the second one finds another item than the one before it.
  @Test func `a cancellation doesn't hide that the value is stored`() async throws {
    let (storage, token) = (storage, token)
    try await token.write("old")
    storage.failAfterCompletion(.save, with: .connectionLost, onCall: 1)
    let gate = storage.suspend(.save)
    let task = Task { try await token.update { _ in "new" } }
    await gate.waitForCall()
    task.cancel()
    gate.open()
    #expect(try await task.value == "new")
    #expect(storage.count(of: .save) == 3)
  }

  // MARK: - Stores that fail

  @Test func `a store whose reply is lost isn't done twice`() throws {
    try token.write("old")
    let events = try EventLog(of: storage)
    storage.failAfterCompletion(.save, with: .connectionLost, onCall: 1)
    var calls = 0
    let found = try token.update { old in
      calls += 1
      return (old ?? "nothing") + ", new"
    }
    #expect(found == "old, new" && calls == 1)
    #expect(try token.read() == "old, new")
    storage.failAfterCompletion(.remove, with: .timedOut, onCall: 1)
    #expect(try token.update { _ in nil } == nil)
    #expect(try !token.exists())
    events.wait(for: .changed(.removed(key)))
    #expect(events.changes == [.replaced(key), .removed(key)])
  }

  @Test(arguments: [
    SecureStorageError.Code.timedOut, .connectionLost, .noProvider, .providerFailed,
  ])
  func `a store is tried again after an error that may pass`(
    code: SecureStorageError.Code
  ) async throws {
    try await token.write("old")
    storage.forgetCalls()
    storage.fail(.save, with: code, onCall: 1)
    storage.fail(.save, with: code, onCall: 2)
    var calls = 0
    let found = try await token.update { _ in
      calls += 1
      return "new"
    }
    #expect(found == "new" && calls == 1)
    #expect(storage.count(of: .save) == 3)
    #expect(try await token.read() == "new")
  }

  /// The look after a store that was done before may fail, too.
  @Test func `a look after a store is tried again`() throws {
    try token.write("old")
    storage.failAfterCompletion(.save, with: .connectionLost, onCall: 1)
    storage.fail(.read, with: .connectionLost, onCall: 2)
    #expect(try token.update { _ in "new" } == "new")
    #expect(try token.read() == "new")
  }

  @Test(arguments: [SecureStorageError.Code.locked, .accessDenied, .turnLost])
  func `the error of a store says that the new value is lost`(
    code: SecureStorageError.Code
  ) async throws {
    try await token.write("old")
    storage.forgetCalls()
    storage.fail(.save, with: code)
    let lost = "The new value couldn't be stored, and is lost."
    expectError(code, says: lost) { try token.update { _ in "new" } }
    await expectError(code, says: lost) {
      try await token.refresh(if: { _ in true }) { _ in "new" }
    }
    #expect(storage.count(of: .save) == 2)
    storage.reset()
    #expect(try await token.update(turnTimeout: .seconds(10)) { $0 } == "old")
  }

  @Test(.tags(.slow)) func `a store isn't tried for ever`() async throws {
    storage.fail(.save, with: .connectionLost)
    let error = await expectError(.connectionLost, says: "is lost") {
      try await token.update { _ in "new" }
    }
    #expect(error?.operation == .save)
    #expect(storage.count(of: .save) > 7)
  }

  // MARK: - Turns that can't be had, or that end

  @Test func `a turn that can't be had is an error, but an addition goes on`() async throws {
    storage.fail(.takeTurn, with: .accessDenied)
    expectError(.accessDenied) {
      try token.update { old in
        Issue.record("the closure ran")
        return old
      }
    }
    #expect(try await token.readOrStore { "generated" } == "generated")
    await expectError(.accessDenied) { try await token.refresh(if: { _ in true }) { _ in "new" } }
    #expect(try await token.read() == "generated")
  }

  /// Nobody would end a turn that the caller doesn't get.
  @Test func `a turn that was taken before an error ends`() async throws {
    storage.failAfterCompletion(.takeTurn, with: .timedOut, onCall: 1)
    expectError(.timedOut) { try token.update { _ in "never" } }
    #expect(try await token.update(turnTimeout: .seconds(1)) { _ in "next" } == "next")
  }

  @Test func `a lost turn cancels the closure, and refuses the store`() async throws {
    let storage = LosingStorage()
    let token = storage[key]
    try await token.write("old")
    let error = await expectError(.turnLost, says: "is lost") {
      try await token.update { _ in
        storage.loseTurn()
        #expect(await waitUntil { Task.isCancelled })
        return "new"
      }
    }
    #expect(error?.operation == .save)
    expectError(.turnLost) {
      try token.update { _ in
        storage.loseTurn()
        return "new"
      }
    }
    #expect(try await token.read() == "old")
    #expect(storage.endedTurns == 2)
  }
}

/// A storage whose turns end when a test says so.
private final class LosingStorage: BlockingStorage, ForwardingStorage {
  private struct State {
    var isLost = false
    var handler: (@Sendable () -> Void)?
    var endedTurns = 0
  }

  let base = InMemoryStorage()
  private let state = Mutex(State())

  var endedTurns: Int { state.withLock { $0.endedTurns } }

  func loseTurn() {
    state.withLock { state in
      state.isLost = true
      return state.handler
    }?()
  }

  nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    state.withLock { ($0.isLost, $0.handler) = (false, nil) }
    return Turn(
      storage: self,
      turn: try await base.takeTurnWithoutBlocking(for: key, details: details, timeout: timeout))
  }

  private struct Turn: ItemTurn {
    let storage: LosingStorage
    let turn: any ItemTurn

    nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
      try await turn.item()
    }

    nonisolated(nonsending) func save(
      _ item: SecureItem?, replacing old: SecureItem?
    ) async throws(SecureStorageError) -> Bool {
      if storage.state.withLock({ $0.isLost }) { throw storage.error(.turnLost, during: .save) }
      return try await turn.save(item, replacing: old)
    }

    func whenLost(_ handler: @escaping @Sendable () -> Void) {
      let isLost = storage.state.withLock { state in
        state.handler = handler
        return state.isLost
      }
      if isLost { handler() }
    }

    nonisolated(nonsending) func end() async {
      storage.state.withLock { $0.endedTurns += 1 }
      await turn.end()
    }
  }
}
