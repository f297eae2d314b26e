// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// A keyring that ends, and is started again.
@Suite(.inPrivateSession, .timeLimit(.minutes(5))) struct DurabilityTests {
  private static let rules = StorageContract.allCases.filter { $0.requirement == .restart }
  /// The ends after which the keyring has all that it has acknowledged.
  private static let endings = StorageContract.Ending.allCases.filter {
    $0 == .orderly || KnownLimitation.reason(.crashSafety) == nil
  }

  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  @Test(.tags(.slow), arguments: rules, endings)
  func `a restarted keyring keeps the contract`(
    rule: StorageContract, ending: StorageContract.Ending
  ) throws {
    let keyring = try Provider.current.startMortal(on: bus, savesAtOnce: false)
    try KnownLimitation.verify(rule) { try verify(rule, keyring, ending) }
  }

  @Test(.only(on: .gnomeKeyring, "only gnome-keyring has text files"), arguments: rules)
  func `a restarted keyring without a password keeps the contract`(rule: StorageContract) throws {
    try verify(rule, GnomeKeyring(on: bus, hasPassword: false), .kill)
  }

  /// They do the same on each keyring.
  @Test(.tags(.slow), .withOwnKeyring, arguments: rules)
  func `storages over a restarted keyring keep the contract`(rule: StorageContract) throws {
    let keyring = try GnomeKeyring(on: bus)
    let memory = SelectionMemory.file(at: bus.directory + "/selection")
    try verify(rule, keyring, .kill) { $0.cached() }
    try verify(rule, keyring, .kill) {
      LayeredStorage([.reading(InMemoryStorage()), .writing($0)])
    }
    try verify(rule, keyring, .kill) { FirstAvailableStorage([$0], remembering: memory) }
  }

  @Test func `a secret that was waited for survives a kill`() async throws {
    let keyring = try Provider.current.startMortal(on: bus, savesAtOnce: false)
    let storage = bus.storage()
    let key = ItemKey.password(service: "service", account: "key")
    #expect(try await storage[key].readOrStore { "new" } == "new")
    if Provider.current == .keepassxc {
      await expectError(.notObservable) { try await storage.waitUntilWritten() }
      return
    }
    if Provider.current == .kwallet {
      let canceled = Task { try await storage.waitUntilWritten() }
      canceled.cancel()
      await expectError(.canceled) { try await canceled.value }
    }
    try await storage.waitUntilWritten()
    try keyring.kill()
    try keyring.start()
    #expect(try await storage[key].readOrStore { "another" } == "new")
  }

  private func verify(
    _ rule: StorageContract, _ keyring: any MortalProvider, _ ending: StorageContract.Ending,
    over storage: @escaping @Sendable (SecretServiceStorage) -> any SecureStorage = { $0 }
  ) throws {
    nonisolated(unsafe) let keyring = keyring
    let base = bus.storage()
    try rule.verify(
      storage(base),
      restart: { _ in
        switch ending {
        case .orderly: try keyring.end()
        case .kill: try keyring.kill()
        }
        try keyring.start()
        return storage(base)
      })
  }
}
#endif
