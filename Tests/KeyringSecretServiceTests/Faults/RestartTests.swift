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

  init() throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(on: bus)
  }

  @Test(arguments: StorageUse.allCases)
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

  @Test func `every call without a provider fails with advice`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    try keyring.kill()
    try openSession(at: bus.address).waitForEndOfProvider()
    for use in StorageUse.allCases {
      use.expectFailure(
        .noProvider, storage, cause: "org.freedesktop.secrets",
        recoverySuggestion: "Install gnome-keyring")
    }
    try keyring.start()
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
  }

  @Test func `the next call reaches a restarted bus`() throws {
    let storage = bus.storage()
    try storage.setPassword("s3cret", for: StorageUse.key)
    for _ in 0..<3 {
      try bus.kill()
      try openSession(at: bus.address).waitForEndOfBus()
      for use in StorageUse.allCases {
        use.expectFailure(.noSessionBus, storage, recoverySuggestion: "dbus-run-session")
      }
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

  @Test(arguments: StorageUse.allCases)
  func `a call fails if the bus dies during it`(use: StorageUse) async throws {
    let bus = try PrivateBus()
    let service = try FakeService(on: bus)
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

  /// Threads rewrite values while the provider is killed and started again.
  ///
  /// The test has no sanitizer, because it mostly waits for the provider.
  @Test(.tags(.unsanitized))
  func `an acknowledged write is there after the provider is killed`() throws {
    let storage = bus.storage(.never)
    let writers = (0..<4).map { Writer(number: $0, storage) }
    let isOver = Atomic(false)
    let written = Atomic(0)
    let group = DispatchGroup()
    for writer in writers {
      DispatchQueue(label: "\(writer.number)").async(group: group) {
        while !isOver.load(ordering: .relaxed) {
          writer.write()
          written.add(1, ordering: .relaxed)
        }
      }
    }
    defer {
      isOver.store(true, ordering: .relaxed)
      group.wait()
    }
    for _ in 0..<20 {
      // The kill comes at any moment of any call.
      let moment = written.load(ordering: .relaxed) + Int.random(in: 1...40)
      while written.load(ordering: .relaxed) < moment {}
      try keyring.kill()
      try keyring.start()
      for writer in writers { try writer.expectWhole() }
    }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    // The kills have interrupted calls.
    #expect(writers.contains { $0.hasLostACall })
    for writer in writers {
      try writer.expectWhole()
      try storage[writer.key, as: .credential].write(Credential(login: "last", password: "last"))
      #expect(try storage.items(matching: .key(writer.key, details: .all)).count == 1)
    }
    #expect(try storage.items(matching: .service("service")).count == writers.count)
  }
}

/// A writer that rewrites one credential, login and password at once, and counts its writes.
private final class Writer: Sendable {
  let number: Int
  let storage: SecretServiceStorage
  private struct Progress {
    var tried = 0
    var acknowledged = 0
    var hasLostACall = false
  }
  private let progress = Mutex(Progress())

  init(number: Int, _ storage: SecretServiceStorage) {
    self.number = number
    self.storage = storage
  }

  var hasLostACall: Bool { progress.withLock(\.hasLostACall) }
  var key: ItemKey { .credentials(service: "service", label: "\(number)") }

  func write() {
    let next = progress.withLock { progress in
      progress.tried += 1
      return progress.tried
    }
    do throws(SecureStorageError) {
      try storage[key, as: .credential].write(Credential(login: "\(next)", password: "\(next)"))
      progress.withLock { $0.acknowledged = next }
    } catch {
      // A keyring that has just started may have no collection yet, or one that is still locked.
      let codes: [SecureStorageError.Code] = [
        .connectionLost, .noProvider, .noDefaultCollection, .locked,
      ]
      #expect(codes.contains(error.code), "\(error)")
      if error.code == .connectionLost { progress.withLock { $0.hasLostACall = true } }
    }
  }

  /// Expects a whole pair that isn't older than the last acknowledged one.
  func expectWhole() throws {
    let acknowledged = progress.withLock(\.acknowledged)
    let credential = try storage[key, as: .credential].read()
    let tried = progress.withLock(\.tried)
    if acknowledged == 0, credential == nil { return }
    let pair = try #require(credential)
    #expect(pair.login == pair.password)
    let found = try #require(Int(pair.login))
    #expect((acknowledged...tried).contains(found))
  }
}
#endif
