// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A provider that can't encrypt, and an address that leads to another machine.
@Suite(.withOwnKeyring) struct UnencryptedSessionTests {
  @Test(.tags(.slow), arguments: StorageUse.allCases)
  func `a session without encryption is refused before a secret is sent`(use: StorageUse) throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    let refusing = SecretServiceStorage(options: .init(busAddress: bus.address))
    use.expectFailure(.notEncrypted, refusing, recoverySuggestion: "allow it in this program")
    // Both storages share the session.
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    _ = try service.takeCalls()
    use.expectFailure(.notEncrypted, refusing, recoverySuggestion: "allow it in this program")
    #expect(try service.takeCalls().isEmpty)
    #expect(try bus.storage().password(for: StorageUse.key) == "s3cret")
  }

  @Test func `a session without encryption is a failure of the diagnosis`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    defer { _ = service }
    let storage = SecretServiceStorage(options: .init(busAddress: bus.address))
    let diagnosis = storage.diagnose(writing: true)
    #expect(diagnosis.findings.last?.subject == "encryption")
    #expect(diagnosis.failure?.code == .notEncrypted, "\(diagnosis)")
    try storage.expectNoOtherSelection(.notEncrypted)
  }

  @Test(
    arguments: [
      "tcp:host=localhost,port=1", "nonce-tcp:host=localhost,port=1,noncefile=/nonexistent",
      "unix:path=/nonexistent;tcp:host=localhost,port=1",
    ])
  func `a bus behind a network connection is refused`(address: String) throws {
    let storage = SecretServiceStorage(
      options: .init(busAddress: address, allowsUnencryptedSession: true))
    StorageUse.allCases.expectFailures(
      .notEncrypted, storage, cause: "a network connection without encryption",
      recoverySuggestion: "ssh can forward")
    let diagnosis = storage.diagnose()
    #expect(diagnosis.findings.last?.subject == "session bus")
    #expect(diagnosis.failure?.code == .notEncrypted)
    try storage.expectNoOtherSelection(.notEncrypted)
    expectError(.notEncrypted) { try storage.observe(nil) { _ in } }
  }
}
#endif
