// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// A program that unlocks a keyring with a password that it was given.
@Suite struct GivenPasswordTests {
  @Test(.withOwnKeyring) func `the password unlocks a collection`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasCollection: false) }
    defer { _ = keyring }
    let collection = try PasswordCollection(label: "Mine", password: "mine", on: bus)
    let storage = bus.storage(.never, in: .named("Mine"))
    try storage.setPassword("s3cret", for: StorageUse.key)
    try storage.lock()
    for wrong in ["", "wrong", "mine\n"] {
      expectError(.wrongKey) { try storage.unlock(password: Secret(wrong)) }
    }
    #expect(try storage.isLocked())
    try storage.unlock(password: Secret("mine"))
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    // There is nothing to unlock, so no password is looked at.
    try storage.unlock(password: Secret("wrong"))
    try collection.delete()
    expectError(.collectionNotFound) { try storage.unlock(password: Secret("mine")) }
  }

  @Test(.withOwnKeyring) func `the password makes the default collection`() async throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasCollection: false) }
    let storage = bus.storage(.never)
    // Its secrets wouldn't be encrypted.
    await expectError(.invalidArgument) { try await storage.unlock(password: Secret("")) }
    try await storage.unlock(password: Secret("mine"))
    try await storage.setPassword("s3cret", for: StorageUse.key)
    try keyring.kill()
    try keyring.start(unlocked: false)
    await expectError(.locked) { try await storage.password(for: StorageUse.key) }
    await expectError(.wrongKey) { try await storage.unlock(password: Secret("wrong")) }
    try await storage.unlock(password: Secret("mine"))
    #expect(try await storage.password(for: StorageUse.key) == "s3cret")
  }

  /// Nobody is asked, although this process may have a terminal.
  @Test(
    .inPrivateSession,
    .enabled(if: Provider.current != .gnomeKeyring, "gnome-keyring takes a password"))
  func `a keyring that takes no password says what to do`() {
    expectError(.locked, says: "takes no password", "encrypted file") {
      try SecretServiceStorage(interaction: .terminal).createCollection(labeled: "new")
    }
  }

  // MARK: - A provider that obeys orders

  @Test(.withOwnKeyring) func `a provider that has one error for everything is unlocked`() throws {
    let bus = try PrivateBus()
    let disk = FakeService.Disk()
    let service = try FakeService(
      on: bus, modes: FakeService.Mode.oo7 + [.encrypted, .passwords], disk: disk)
    let storage = bus.storage(.never)
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.lock()
    expectError(.wrongKey) { try storage.unlock(password: Secret("wrong")) }
    expectError(.locked) { _ = try storage.password(for: StorageUse.key) }
    try storage.unlock(password: Secret("right"))
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test(.withOwnKeyring) func `a provider without a default collection gets one`() throws {
    let bus = try PrivateBus()
    let disk = FakeService.Disk()
    let service = try FakeService(on: bus, modes: [.encrypted, .passwords], disk: disk)
    try service.alias(.none)
    let storage = bus.storage(.never)
    try storage.unlock(password: Secret("right"))
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.restart()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test(.withOwnKeyring) func `a password is never sent without encryption`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0, modes: [.passwords]) }
    let storage = bus.storage(.terminal)
    try storage.setPassword("s3cret", for: StorageUse.key)
    try service.lock()
    _ = try service.takeCalls()
    expectError(.notEncrypted) { try storage.unlock(password: Secret("secret")) }
    expectError(.notEncrypted) { try storage.unlock() }
    expectError(.notEncrypted) { _ = try storage.password(for: StorageUse.key) }
    #expect(try service.takeCalls()["UnlockWithMasterPassword"] == nil)
  }

  @Test(.withOwnKeyring) func `a provider without the methods is not sent a password`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    let storage = bus.storage(.terminal)
    try service.lock()
    _ = try service.takeCalls()
    for unlock in [{ try storage.unlock(password: Secret("secret")) }, { try storage.unlock() }] {
      expectError(.locked, says: "takes no password") { try unlock() }
    }
    #expect(try service.takeCalls()["UnlockWithMasterPassword"] == nil)
  }
}
#endif
