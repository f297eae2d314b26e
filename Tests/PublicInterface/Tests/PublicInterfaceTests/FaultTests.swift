// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// Tests of faulty storages and of the trait.
@Suite struct FaultTests {
  private let storage = FaultyStorage(InMemoryStorage())
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `a faulty storage records its calls, and fails as told`() throws {
    try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add)
    #expect(try storage.items(matching: .key(key)).count == 1)
    #expect(try storage.items(for: [key], details: .secret).count == 1)
    #expect(try storage.removeItems(matching: .key(key)) == 1)
    let call: StorageCall = try #require(storage.calls.first)
    #expect(call.operation == .save && call.keys == [key] && call.mode == .add)
    #expect(call.query == nil && storage.count(of: .read) == 2)
    #expect(storage.backendName == "InMemoryStorage")
    #expect(storage.secretByteLimit == InMemoryStorage().secretByteLimit)

    storage.forgetCalls()
    storage.fail(.read, with: .timedOut, onCall: 1)
    storage.failAfterCompletion(.save, with: .connectionLost)
    storage.fail { $0.operation == .remove ? error : nil }
    storage.delay(.unlock, by: .seconds(1))
    #expect(throws: SecureStorageError.self) { try storage.exists(key) }
    #expect(throws: SecureStorageError.self) { try storage.setPassword("s3cret", for: key) }
    #expect(throws: SecureStorageError.self) { try storage.remove(key) }
    storage.fail(.observe, with: .accessDenied, onCall: 1)
    #expect(throws: SecureStorageError.self) { try storage.observe(nil) { _ in } }
    try storage.observe(nil) { _ in }.cancel()
    storage.reset()
    #expect(try storage.exists(key))
  }

  private var error: SecureStorageError {
    storage.error(.userCanceled, during: .remove)
  }

  @Test func `a call waits at a gate`() async throws {
    let gate: CallGate = storage.suspend(.save)
    async let saving: Void = storage.setPassword("s3cret", for: key)
    await gate.waitForCall()
    #expect(try await !storage.exists(key))
    gate.open()
    try await saving
    #expect(try await storage.exists(key))
  }

  @Test func `the trait is for suites and tests`() async throws {
    let trait: SecureStorageTrait = .secureStorage(FaultyStorage())
    #expect(trait.isRecursive)
    let test = try #require(Test.current)
    try await trait.provideScope(for: test, testCase: Test.Case.current) {
      #expect(SecureStorageDefaults.currentStorage is FaultyStorage)
    }
  }
}
