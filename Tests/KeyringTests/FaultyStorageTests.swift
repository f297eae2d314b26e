// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@Suite struct FaultyStorageTests {
  private let storage = FaultyStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  private func save(_ text: String) throws(SecureStorageError) {
    try storage.setPassword(text, for: key)
  }

  @Test(.tags(.slow), arguments: StorageContract.cases(for: FaultyStorage.self))
  func `a storage without planned failures keeps the contract`(rule: StorageContract) throws {
    try rule.verify(FaultyStorage())
  }

  @Test func `every call of an operation fails until the storage is reset`() throws {
    try save("old")
    storage.fail(.save, with: .timedOut)
    for _ in 0..<3 { expectError(.timedOut) { try save("new") } }
    #expect(try storage.password(for: key) == "old")
    storage.reset()
    try save("new")
    #expect(try storage.password(for: key) == "new")
    #expect(storage.count(of: .save) == 5)
    #expect(storage.calls.last?.operation == .read && storage.calls.last?.keys == [key])
  }

  @Test func `only the chosen call of an operation fails`() throws {
    try save("first")
    storage.fail(.save, with: .locked, onCall: 2)
    try save("second")
    _ = try storage.password(for: key)
    expectError(.locked) { try save("third") }
    try save("fourth")
    #expect(try storage.password(for: key) == "fourth")
  }

  @Test func `a rule decides which calls fail`() throws {
    let other = ItemKey.password(service: "service", account: "other")
    storage.fail { [key] call in
      guard call.keys == [key], call.mode != .add else { return nil }
      return SecureStorageError(.userCanceled, operation: call.operation, backendName: "Test")
    }
    try storage.setPassword("s3cret", for: other)
    try storage.setPassword("s3cret", for: key, mode: .add)
    expectError(.userCanceled) { try save("new") }
  }

  @Test func `a call that fails after its completion has taken effect`() throws {
    try save("old")
    storage.failAfterCompletion(.save, with: .connectionLost)
    expectError(.connectionLost) { try save("new") }
    #expect(try storage.password(for: key) == "new")
  }

  @Test func `the recorded calls contain no secret`() throws {
    try save("s3cret")
    var text = ""
    dump(storage.calls, to: &text)
    #expect(text.contains("account") && !text.contains("s3cret"))
    storage.forgetCalls()
    #expect(storage.calls.isEmpty)
  }

  @Test func `a held call waits until the gate opens`() async throws {
    let gate = storage.suspend(.save)
    async let saving: Void = storage.setPassword("held", for: key)
    await gate.waitForCall()
    // Other calls pass, and the held one has done nothing yet.
    #expect(try await storage.password(for: key) == nil)
    gate.open()
    try await saving
    #expect(try await storage.password(for: key) == "held")
    try await storage.setPassword("open", for: key)
  }

  @Test func `a held call ends if it is cancelled or the storage is reset`() async throws {
    let gate = storage.suspend()
    let reading = Task { [storage, key] in try await storage.password(for: key) }
    await gate.waitForCall()
    reading.cancel()
    await expectError(.canceled) { try await reading.value }
    async let saving: Void = storage.setPassword("s3cret", for: key)
    storage.reset()
    try await saving
  }

  @Test func `a gate counts only calls that can wait at it`() async throws {
    let gate = storage.suspend(.save)
    let canceled = Task { [storage, key] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await storage.setPassword("never", for: key)
    }
    await #expect(throws: SecureStorageError.self) { try await canceled.value }
    let hasWaited = Mutex(false)
    let waiting = Task {
      // A cancelled task waits for the call, too.
      withUnsafeCurrentTask { $0?.cancel() }
      await gate.waitForCall()
      hasWaited.withLock { $0 = true }
    }
    for _ in 0..<1000 { await Task.yield() }
    #expect(hasWaited.withLock { !$0 })
    async let saving: Void = storage.setPassword("s3cret", for: key)
    await waiting.value
    gate.open()
    try await saving
  }

  @Test func `a held call that is going to fail waits first`() async throws {
    storage.fail(.save, with: .locked)
    let gate = storage.suspend(.save)
    let saving = Task { [storage, key] in try await storage.setPassword("s3cret", for: key) }
    await gate.waitForCall()
    gate.open()
    await expectError(.locked) { try await saving.value }
  }

  @Test func `a delayed call takes at least the delay`() throws {
    storage.delay(.read, by: .milliseconds(30))
    let start = ContinuousClock.now
    try save("s3cret")
    #expect(try storage.password(for: key) == "s3cret")
    #expect(ContinuousClock.now - start >= .milliseconds(30))
  }
}
