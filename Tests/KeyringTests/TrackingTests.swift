// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import KeyringTesting
import Observation
import Synchronization
import TestPrograms
import Testing

/// Properties that someone tracks with the module Observation.
// A write to a storage that reports nothing notifies the readers of all storages of its type, also those of another test.
@Suite(.serialized, .timeLimit(.minutes(2)), .tags(.threads)) struct TrackingTests {
  private struct Settings {
    @Password("authToken", service: "tracked") var authToken: String?
    @Credentials("account", service: "tracked") var account: Credential?
    @SecureValue("session", service: "tracked") var session: [Int]?
    @InternetPassword(server: "example.org", account: "me") var server: String?
    @Password("generated", orGenerate: "made", service: "tracked") var generated: String?
  }

  /// Another type with properties of the same items.
  private struct OtherSettings {
    @Password("authToken", default: "none", service: "tracked") var token: String
    @Credentials("account", service: "tracked") var account: Credential?
    @SecureValue("session", service: "tracked") var session: [Int]?
    @InternetPassword(server: "example.org", account: "me") var server: Secret?
  }

  /// A storage in memory that reports no changes.
  private struct SilentMemory: ImmediateStorage, ForwardingStorage {
    let base = InMemoryStorage()
  }

  /// A property of an item in one storage.
  private struct Source {
    @Password var authToken: String?

    init(in storage: any SecureStorage) {
      _authToken = Password("authToken", service: "tracked", storage: storage)
    }
  }

  private let settings = Settings()
  private let others = OtherSettings()

  /// Waits until everyone who is to be notified by now has been.
  private func everyoneIsTold() async {
    let property = Source(in: InMemoryStorage())
    let last = Tracked { property.authToken }
    property.authToken = "last"
    #expect(await last.wasTold())
  }

  // MARK: - Changes by this process

  @Test(.secureStorage()) func `any property of the same item notifies the readers`() async {
    let token = Tracked { settings.authToken }
    let (account, session) = (Tracked { settings.account }, Tracked { settings.session })
    let server = Tracked { settings.server }
    others.token = "s3cret"
    await everyoneIsTold()
    #expect([token.count, account.count, session.count, server.count] == [1, 0, 0, 0])
    others.account = Credential(login: "me", password: "s3cret")
    others.session = [1]
    others.server = Secret("s3cret")
    await everyoneIsTold()
    #expect([token.count, account.count, session.count, server.count] == [1, 1, 1, 1])
    let follower = Follower { [settings] in settings.authToken }
    for value in ["1", "2", "3"] {
      others.token = value
      #expect(await waitUntil { follower.last == value })
    }
    follower.end()
    #expect(follower.reads <= 4)
  }

  @Test(.secureStorage()) func `each way to read and to change is noticed`() async throws {
    let reads: [(Settings) throws -> Void] = [
      { _ = $0.authToken }, { _ = try $0.$authToken.read() }, { _ = try $0.$authToken.exists() },
      { _ = try $0.$authToken.dates() }, { _ = try $0.$authToken.origin() },
      { _ = try $0.$authToken.readOrStore { "new" } },
      { _ = try SecureProperties(of: $0).readAll() },
      { _ = try SecureProperties(of: $0).entries() },
    ]
    let silent = SilentMemory()
    let source = Source(in: InMemoryStorage())
    source.authToken = "4"
    let changes: [(old: String?, change: (Settings) async throws -> Void)] = [
      ("old", { $0.authToken = "1" }), ("old", { try await $0.$authToken.write("2") }),
      ("old", { try await $0.$authToken.remove() }),
      (nil, { _ = try await $0.$authToken.readOrStore { "3" } }),
      ("old", { _ = try await SecureProperties(of: $0).removeAll() }),
      ("old", { _ in try await SecureProperties(of: source).copy(to: silent) }),
    ]
    for read in reads {
      try await withSecureStorage(silent) {
        for (old, change) in changes {
          settings.authToken = old
          let tracked = Tracked { try? read(settings) }
          try await change(Settings())
          #expect(await tracked.wasTold())
        }
      }
      try await withSecureStorage(memory) {
        settings.authToken = "old"
        let tracked = Tracked { try? read(settings) }
        // Another program.
        try await memory.setPassword("5", for: settings.$authToken.key)
        #expect(await tracked.wasTold())
      }
    }
  }

  private let memory = InMemoryStorage()

  @Test(.secureStorage()) func `readers are notified after a change is made`() async {
    settings.authToken = "old"
    let seen = Mutex<String?>(nil)
    let tracked = Tracked {
      settings.authToken
    } onChange: { [settings] in
      let value = settings.authToken
      seen.withLock { $0 = value }
    }
    settings.authToken = "new"
    #expect(await waitUntil { seen.withLock { $0 } == "new" })
    #expect(tracked.first == "old" && tracked.count == 1)
  }

  /// Each reader takes as long as the test.
  @Test func `no writer waits for a reader, and no reader for one of another property`() async {
    let gate = DispatchSemaphore(value: 0)
    let waiting = ["first", "second"].map { name in
      let property = Password<String?>(name, service: "tracked", storage: memory)
      return (
        property,
        Tracked {
          property.wrappedValue
        } onChange: {
          gate.wait()
        }
      )
    }
    let property = Password<String?>("other", service: "tracked", storage: memory)
    let other = Tracked { property.wrappedValue }
    for (property, _) in waiting { property.wrappedValue = "new" }
    for (_, tracked) in waiting { #expect(await tracked.wasTold()) }
    property.wrappedValue = "new"
    #expect(await other.wasTold())
    for _ in waiting { gate.signal() }
  }

  @Test func `a reader that waits for the main thread hinders no writer there`() async {
    await #expect(processExitsWith: .success) {
      let settings = Source(in: InMemoryStorage())
      let isTold = Mutex(false)
      await MainActor.run {
        let tracked = Tracked {
          settings.authToken
        } onChange: {
          DispatchQueue.main.sync { isTold.withLock { $0 = true } }
        }
        settings.authToken = "new"
        #expect(waitUntil { tracked.count == 1 })
        settings.authToken = "newer"
        #expect(!isTold.withLock { $0 })
      }
      #expect(await waitUntil { isTold.withLock { $0 } })
    }
  }

  @Test func `the first reader of a process during a write is notified of its end`() async {
    await #expect(processExitsWith: .success) {
      let storage = FaultyStorage(SilentMemory())
      let settings = Source(in: storage)
      let gate = storage.suspend(.save)
      async let writing: Void = settings.$authToken.write("new")
      await gate.waitForCall()
      let tracked = Tracked { settings.authToken }
      #expect(tracked.first == .some(nil) && tracked.count == 0)
      gate.open()
      try await writing
      #expect(await tracked.wasTold())
    }
  }

  @Test func `readers are notified at the end of a write, also those who read in it`() async throws
  {
    let storage = FaultyStorage(memory)
    try await withSecureStorage(storage) {
      settings.authToken = "old"
      let first = Tracked { settings.authToken }
      let gate = storage.suspend(.save)
      async let writing: Void = settings.$authToken.write("new")
      await gate.waitForCall()
      let second = Tracked { settings.authToken }
      await everyoneIsTold()
      #expect(second.first == "old" && [first.count, second.count] == [0, 0])
      gate.open()
      try await writing
      await everyoneIsTold()
      #expect([first.count, second.count] == [1, 1])
      #expect(settings.authToken == "new")
    }
  }

  @Test(.secureStorage()) func `a change before the tracking begins isn't lost`() async {
    let late = Tracked {
      let value = settings.authToken
      Settings().authToken = "new"  // as another thread does, before the closure returns
      return value
    }
    #expect(late.first == nil)
    #expect(await late.wasTold())
  }

  @Test(.secureStorage()) func `a reader may read and write when it's notified`() async {
    let tracked = Tracked {
      settings.authToken
    } onChange: {
      _ = settings.authToken
      others.account = Credential(login: "me", password: "s3cret")
      Settings().session = [1]
    }
    let session = Tracked { settings.session }
    settings.authToken = "new"
    #expect(await session.wasTold())
    #expect(tracked.count == 1 && session.count == 1)
    #expect(settings.authToken == "new" && settings.session == [1])
  }

  @Test(.secureStorage()) func `a value that's generated by a tracked read settles`() async {
    let follower = Follower { [settings] in settings.generated }
    #expect(await waitUntil { follower.last == "made" })
    Settings().generated = "other"
    #expect(await waitUntil { follower.last == "other" })
    follower.end()
    settings.generated = nil
    #expect(follower.reads < 10)
  }

  @Test func `the same key in other storages is another item`() async {
    let (tracked, explicit) = withSecureStorage(memory) {
      (Tracked { settings.authToken }, Tracked { Settings().server })
    }
    // The override's end is a change, too.
    await everyoneIsTold()
    #expect(tracked.count == 1 && explicit.count == 1)
    await withSecureStorage(SilentMemory()) {
      let silent = Tracked { settings.authToken }
      Source(in: FaultyStorage(SilentMemory())).authToken = "elsewhere"
      await everyoneIsTold()
      #expect(silent.count == 0)
      Source(in: SilentMemory()).authToken = "there, as far as anyone can tell"
      #expect(await silent.wasTold())
    }
  }

  // MARK: - Failures

  @Test func `failures are noticed, equal ones once`() async throws {
    try await withSecureStorage(memory, failureHandler: ignore) {
      let failure = Tracked { settings.$authToken.failure?.code }
      try await memory.lock()
      settings.authToken = "new"
      await everyoneIsTold()
      #expect(failure.first == nil && failure.count == 1)
      let again = Tracked { settings.$authToken.failure?.code }
      settings.authToken = "new"
      await everyoneIsTold()
      #expect(again.first == .locked && again.count == 0)
      try await memory.unlock()
      settings.authToken = "new"
      #expect(await again.wasTold())
    }
  }

  @Test func `failures that differ only in their cause are equal`() async {
    let storage = FaultyStorage(memory)
    let number = Mutex(0)
    storage.fail { call in
      let cause = number.withLock { number in
        number += 1
        return SecureStorageError.Underlying(domain: "test", code: number, text: "No. \(number)")
      }
      return SecureStorageError(
        .connectionLost, operation: call.operation, backendName: "test", underlying: cause)
    }
    let failing = Source(in: storage)
    let first = Tracked { failing.$authToken.failure?.code }
    _ = failing.authToken
    #expect(await first.wasTold())
    let again = Tracked { failing.$authToken.failure?.code }
    _ = failing.authToken
    await everyoneIsTold()
    #expect(again.first == .connectionLost && again.count == 0 && number.withLock { $0 } == 2)
  }

  @Test func `a view that reads a locked property and its failure settles`() async throws {
    let follower = try withSecureStorage(memory) {
      settings.authToken = "s3cret"
      try memory.lock()
      let failing = Password<String?>("authToken", service: "tracked", storage: memory)
      return Follower { (failing.failure?.code, failing.wrappedValue) }
    }
    #expect(await waitUntil { follower.last?.0 == .locked })
    try await memory.unlock()
    try await memory.setPassword("new", for: settings.$authToken.key)
    #expect(await waitUntil { follower.last ?? (nil, nil) == (nil, "new") })
    #expect(follower.reads < 10)
    follower.end()
  }

  // MARK: - Another storage

  @Test func `another storage of the process is a change`() async {
    await #expect(processExitsWith: .success) {
      SecureStorageDefaults.storage = InMemoryStorage()
      let settings = Settings()
      settings.authToken = "old"
      let follower = Follower { settings.authToken }
      let own = InMemoryStorage()
      let explicit = Password<String?>("authToken", service: "tracked", storage: own)
      let unconcerned = Tracked { explicit.wrappedValue }
      let new = InMemoryStorage()
      try await new.setPassword("new", for: settings.$authToken.key)
      SecureStorageDefaults.storage = new
      #expect(await waitUntil { follower.last == "new" })
      settings.authToken = "newer"
      #expect(await waitUntil { follower.last == "newer" })
      #expect(unconcerned.count == 0)

      let ofService = Tracked { Password<String?>("authToken").wrappedValue }
      SecureStorageDefaults.service = "org.example.other"
      #expect(await ofService.wasTold())
    }
  }

  @Test(.secureStorage()) func `an override is a change, at its begin and its end`() async {
    let outside = Tracked { settings.authToken }
    let inside = await withSecureStorage(memory) {
      #expect(await outside.wasTold())
      return Tracked { settings.authToken }
    }
    #expect(await inside.wasTold())
  }

  @Test func `a reader is notified in the override that it has read in`() async throws {
    let inner = InMemoryStorage()
    try await inner.setPassword("inner", for: settings.$authToken.key)
    await withSecureStorage(memory) {
      settings.authToken = "outer"
      let explicit = Password<String?>("own", service: "tracked", storage: InMemoryStorage())
      let follower = Follower { (explicit.wrappedValue, Settings().authToken) }
      let ended = await withSecureStorage(inner) {
        let other = Follower { (explicit.wrappedValue, Settings().authToken) }
        explicit.wrappedValue = "new"
        #expect(await waitUntil { follower.last?.0 == "new" && other.last?.0 == "new" })
        #expect(follower.last?.1 == "outer" && other.last?.1 == "inner")
        return other
      }
      #expect(await waitUntil { ended.last?.1 == "outer" })
      follower.end()
      ended.end()
      explicit.wrappedValue = nil
    }
  }

  // MARK: - Asynchronous sequences and models

  @Test(.secureStorage()) func `a property is a sequence of values`() async {
    let values = Observations { [settings] in settings.authToken }
    var iterator = values.makeAsyncIterator()
    #expect(await iterator.next() == .some(nil))
    for number in 0..<20 {
      settings.authToken = "\(number)"
      // Values may be repeated or left out, but the last one comes.
      while let value = await iterator.next(), value != "\(number)" {}
    }
  }

  @Observable final class Model {
    @ObservationIgnored @Password("authToken", service: "tracked") var authToken: String?
    var title = "none"
    var summary: String { "\(title): \(authToken ?? "signed out")" }
  }

  @Test(.secureStorage()) func `a property of an observable class is tracked`() async {
    let model = Model()
    let first = Tracked { model.summary }
    Settings().authToken = "s3cret"
    #expect(await first.wasTold())
    #expect(first.first == "none: signed out")
    let second = Tracked { model.summary }
    model.title = "token"
    #expect(second.first == "none: s3cret" && second.count == 1)
    model.authToken = nil
    #expect(model.summary == "token: signed out")
  }

  // MARK: - Changes by other programs

  @Test func `an observation lasts until a change that no one reads`() async {
    let storage = ReportingStorage()
    let property = Password<String?>("authToken", service: "tracked", storage: storage)
    let change = StorageEvent.changed(.replaced(property.key))
    #expect(property.wrappedValue == nil && storage.observers.isEmpty, "no one tracks")
    for _ in 0..<10 {
      let tracked = Tracked { property.wrappedValue }
      #expect(!storage.observers.isEmpty)
      storage.observers.report(change)
      #expect(await tracked.wasTold())
      #expect(!storage.observers.isEmpty, "the reader may read again")
    }
    storage.observers.report(change)
    #expect(await waitUntil { storage.observers.isEmpty })
    for event in [StorageEvent.locked, .resumed] {
      let tracked = Tracked { property.wrappedValue }
      storage.observers.report(event)
      #expect(await tracked.wasTold())
    }
    let unconcerned = Tracked { property.wrappedValue }
    let other = Password<String?>("other", service: "tracked", storage: storage)
    let concerned = Tracked { other.wrappedValue }
    for event in [
      StorageEvent.interrupted, .changing(property.key), .mayHaveChanged(nil),
      .changed(.created(other.key)),
    ] {
      storage.observers.report(event)
    }
    #expect(await concerned.wasTold())
    await everyoneIsTold()
    #expect(unconcerned.count == 0)
  }

  @Test func `a failed observation is tried again, but not in each read`() async throws {
    let storage = FaultyStorage(memory)
    storage.fail(.observe, with: .timedOut)
    let property = Source(in: storage)
    let tracked = (0..<10).map { _ in Tracked { property.authToken } }
    // All ten reads would take long if the machine were so busy that this fails.
    #expect(storage.count(of: .observe) < 5)
    try await memory.setPassword("unnoticed", for: property.$authToken.key)
    await everyoneIsTold()
    #expect(tracked.allSatisfy { $0.count == 0 })
    storage.reset()
    for reader in tracked { #expect(await reader.wasTold()) }
    let again = Tracked { property.authToken }
    try await memory.setPassword("noticed", for: property.$authToken.key)
    #expect(await again.wasTold())
    #expect(again.first == "unnoticed")
  }

  @Test func `a storage that can't be observed isn't asked again`() {
    let storage = FaultyStorage(SilentMemory())
    let property = Source(in: storage)
    for _ in 0..<3 { _ = Tracked { property.authToken } }
    #expect(storage.count(of: .observe) == 1)
  }

  @Test func `an observer that reads isn't notified of an observation that fails`() async throws {
    let storage = FaultyStorage(memory)
    storage.fail(.observe, with: .timedOut)
    let property = Source(in: storage)
    let tracked = Mutex<Tracked<String?>?>(nil)
    let subscription = memory.observe(nil) { _ in
      tracked.withLock { if $0 == nil { $0 = Tracked { property.authToken } } }
    }
    try await memory.setPassword("first", for: property.$authToken.key)
    #expect(await waitUntil { storage.count(of: .observe) >= 2 })
    let inner = try #require(tracked.withLock { $0 })
    await everyoneIsTold()
    #expect(inner.count == 0)
    subscription.cancel()
  }

  @Test func `a property may be tracked by an observer of its storage`() async throws {
    let property = Password<String?>("authToken", service: "tracked", storage: memory)
    let tracked = Mutex<Tracked<String?>?>(nil)
    let subscription = memory.observe(nil) { _ in
      tracked.withLock { if $0 == nil { $0 = Tracked { property.wrappedValue } } }
    }
    property.wrappedValue = "first"
    #expect(await waitUntil { tracked.withLock { $0 != nil } })
    let inner = try #require(tracked.withLock { $0 })
    try await memory.setPassword("second", for: property.key)
    #expect(await inner.wasTold())
    subscription.cancel()
  }

  // MARK: - Many readers

  private final class Reader: Sendable {
    static let alive = Atomic(0)
    init() { Self.alive.add(1, ordering: .relaxed) }
    deinit { Self.alive.subtract(1, ordering: .relaxed) }
  }

  /// An empty storage that counts its observers.
  private final class CountingStorage: ImmediateStorage, EmptyStorage, ObservableStorage {
    static let observers = Atomic(0)

    func observe(
      _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
    ) -> StorageSubscription {
      Self.observers.add(1, ordering: .relaxed)
      return StorageSubscription { Self.observers.subtract(1, ordering: .relaxed) }
    }
  }

  // The test has no sanitizer, because one thread reads very often in it.
  @Test(.tags(.slow, .unsanitized))
  func `readers who never come back are forgotten, and others aren't`() async {
    await #expect(processExitsWith: .success) {
      let memory = SilentMemory()
      func live(_ number: Int) -> Password<String?> {
        Password("live \(number)", service: "tracked", storage: memory)
      }
      let followers = (0..<1_500).map { number in
        let property = live(number)
        return Follower { property.wrappedValue }
      }
      let storage = CountingStorage()
      for number in 0..<100_000 {
        let property = Password<String?>("\(number)", service: "tracked", storage: storage)
        let reader = Reader()
        withObservationTracking({ _ = property.wrappedValue }, onChange: { _ = reader })
      }
      #expect(await waitUntil { Reader.alive.load(ordering: .relaxed) < 8_000 })
      #expect(await waitUntil { CountingStorage.observers.load(ordering: .relaxed) < 8_000 })
      for number in followers.indices { live(number).wrappedValue = "new" }
      #expect(await waitUntil { followers.allSatisfy { $0.last == "new" } })
      for follower in followers { follower.end() }
      for number in followers.indices { live(number).wrappedValue = nil }
    }
  }

  @Test(.secureStorage()) func `the last value of many writers is seen by all readers`() async {
    let followers = (0..<3).map { _ in Follower { Settings().authToken } }
    await withTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<200 {
            if number.isMultiple(of: 2) {
              Settings().authToken = "\(writer) \(number)"
            } else {
              try? await Settings().$authToken.write("\(writer) \(number)")
            }
          }
        }
      }
    }
    let last = settings.authToken
    #expect(last != nil)
    #expect(await waitUntil { followers.allSatisfy { $0.last == last } })
    for follower in followers { follower.end() }
  }
}
