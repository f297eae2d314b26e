// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// Storages that may not ask the user, in front of locked collections.
@Suite(.withOwnKeyring) struct NoQuestionTests {
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  // MARK: - gnome-keyring

  @Test(.tags(.slow), arguments: StorageUse.allCases)
  func `a collection without a password opens without a question`(use: StorageUse) throws {
    let keyring = try GnomeKeyring(on: bus, hasPassword: false, unlocked: false)
    let prompter = try Prompter(.wait, on: bus)
    let storage = bus.storage(.never)
    #expect(try storage.isLocked())
    var query = ItemQuery.service("service")
    query.allowsUnlocking = false
    #expect(try storage.items(matching: query).isEmpty)
    #expect(try storage.isLocked(), "a query that may unlock nothing has unlocked the collection")
    try use(storage)
    try storage.setPassword("s3cret", for: StorageUse.key)
    try storage.lock()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    // The keyring is started again, as by the next login.
    try keyring.kill()
    try keyring.start(unlocked: false)
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    #expect(try prompter.finish() == 0)
  }

  @Test func `a diagnosis opens a collection without a password`() throws {
    let keyring = try GnomeKeyring(on: bus, hasPassword: false, unlocked: false)
    defer { _ = keyring }
    for interaction in [SecretServiceStorage.Interaction.never, .allowed] {
      for writing in [false, true] {
        try bus.storage().lock()
        let diagnosis = bus.storage(interaction).diagnose(writing: writing)
        #expect(diagnosis.failure == nil, "\(diagnosis)")
        // The session's own keyring has the collections of other tests in its files.
        let findings = diagnosis.findings.filter { !$0.subject.hasSuffix("collection's file") }
        #expect(findings.allSatisfy { $0.state == .ok }, "\(diagnosis)")
        #expect("\(diagnosis)".contains("/login, unlocked without a question"), "\(diagnosis)")
      }
    }
  }

  @Test func `a prompt that comes instead is not shown and not asked for again`() throws {
    let keyring = try GnomeKeyring(on: bus)
    defer { _ = keyring }
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    let prompter = try Prompter(.password(GnomeKeyring.typedPassword), on: bus)
    try bus.storage().lock()
    let monitor = try BusMonitor(on: bus)
    for use in StorageUse.allCases where use != .lock {
      use.expectFailure(
        .locked, bus.storage(.never), recoverySuggestion: "allow this program to show prompts")
    }
    #expect(bus.storage(.never).diagnose().failure?.code == .locked)
    let calls = try monitor.finish()
    #expect(calls.count { $0 == "Unlock" } == 1, "\(calls)")
    #expect(!calls.contains("Prompt") && !calls.contains("Dismiss"), "\(calls)")
    // The daemon still asks where that is allowed, and it's as good as before.
    #expect(try bus.storage().password(for: StorageUse.key) == "s3cret")
    #expect(try bus.storage(.never).password(for: StorageUse.key) == "s3cret")
    #expect(try prompter.finish() == 1)
  }

  // MARK: - A provider that obeys orders

  @Test func `an unknown provider is not told to unlock anything`() throws {
    let service = try FakeService(on: bus)
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try service.lock()
    _ = try service.takeCalls()
    StorageUse.read.expectFailure(.locked, bus.storage(.never))
    StorageUse.unlock.expectFailure(.locked, bus.storage(.never))
    #expect(bus.storage(.never).diagnose().failure?.code == .locked)
    #expect(try service.takeCalls()["Unlock"] == nil)
  }

  @Test func `a declined prompt is not followed by other requests to unlock`() async throws {
    let service = try FakeService(on: bus)
    try service.takeName("org.gnome.keyring")
    try service.takeName("org.gnome.keyring.SystemPrompter")
    let storage = bus.storage()
    let keys = (1...20).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword("s3cret", for: key) }
    try service.lock()
    try service.fault("Unlock", .prompt(.dismiss))
    _ = try service.takeCalls()
    service.suspend()
    await withTaskGroup(of: Bool.self) { group in
      for key in keys {
        group.addTask { (try? await storage.password(for: key)) == nil }
      }
      // A read that comes after a question is sent by itself, too.
      #expect(
        await waitUntil { ReadQueue.shared.reads.load(ordering: .relaxed) == keys.count })
      service.suspend(false)
      for await isRefused in group { #expect(isRefused) }
    }
    let calls = try service.takeCalls()
    // The first reads are sent by themselves.
    #expect(calls["Unlock", default: 0] <= 3, "\(calls)")
    #expect(calls["Unlock"] == calls["Prompt"], "\(calls)")
  }
}
#endif
