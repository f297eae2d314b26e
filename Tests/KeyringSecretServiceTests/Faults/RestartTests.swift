// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Keyring
import KeyringStorage
import Synchronization
import Testing

/// A process that goes on when the provider or the bus dies and comes back.
@Suite(.withOwnKeyring) struct RestartTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws { (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) } }

  @Test(.tags(.slow), arguments: StorageUse.allCases)
  func `the next call reaches a restarted provider`(use: StorageUse) throws {
    let storage = bus.storage()
    if use != .propertyRead { try storage.setPassword("s3cret", for: StorageUse.key) }
    for _ in 0..<2 {
      try keyring.kill()
      try keyring.start()
      try storage.service("service").password("new").write(nil)
      try keyring.kill()
      try keyring.start()
      try use(storage)
    }
  }

  @Test func `the next call reaches a restarted bus`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    for _ in 0..<3 {
      try bus.kill()
      try openSession(at: bus.address).waitForEndOfBus()
      StorageUse.allCases.expectFailures(
        .noSessionBus, storage, recoverySuggestion: "dbus-run-session")
      try bus.start()
      StorageUse.read.expectFailure(.noProvider, storage)
      // The keyring has ended with its bus.
      try keyring.kill()
      try keyring.start()
      #expect(try storage.password(for: StorageUse.key) == "s3cret")
    }
  }

  @Test func `no session with a bus that has ended stays open`() throws {
    let ended = try PrivateBus()
    let service = try FakeService(on: ended)
    try StorageUse.save(ended.storage())
    weak let session = try openSession(at: ended.address)
    try ended.kill()
    // The session of another bus is opened.
    #expect(
      try waitUntil {
        let another = try PrivateBus()
        let service = try FakeService(on: another)
        try StorageUse.save(another.storage())
        _ = service
        return session == nil
      })
    _ = service
  }

  @Test(.tags(.slow), arguments: StorageUse.allCases)
  func `a call fails if the bus dies during it`(use: StorageUse) async throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    try StorageUse.save(storage)
    let method = use == .lock || use == .unlock ? "ReadAlias" : "SearchItems"
    try service.fault(method, .mute)
    let call = Task.detached { use.expectFailure(.connectionLost, storage) }
    try await service.waitForCall(of: method)
    try bus.kill()
    _ = await call.value
  }
}
#endif
