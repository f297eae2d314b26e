// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// Updates through storages of storages, and those who follow a value.
@Suite(.timeLimit(.minutes(1))) struct StoragesOfTurnsTests {
  private struct Settings {
    @Password("token", service: "updated") var token: String?
  }

  private let key = ItemKey.password(service: "service", account: "account")

  // MARK: - Layers

  @Test func `an item of a later layer is copied to the one that is written`() async throws {
    let (first, second, third) = (InMemoryStorage(), InMemoryStorage(), InMemoryStorage())
    let layered = LayeredStorage([.reading(first), .writing(second), .reading(third)])
    let item = SecureItem(
      key: key, secret: Secret("given"), label: "label", attributes: ["note": "kept"])
    try await third.save(item, mode: .add)
    let found = try await layered[key].refresh(if: { $0 == "given" }) { $0 + ", renewed" }
    #expect(found == "given, renewed")
    let copy = try #require(try await second.item(for: key))
    #expect(copy.secret == Secret("given, renewed") && copy.label == "label")
    #expect(copy.attributes?["note"] == "kept")
    #expect(try await third.password(for: key) == "given")
    #expect(try await !first.exists(key))
    // From now on, it's the item of the layer that is written.
    #expect(try await layered[key].update { ($0 ?? "") + " again" } == "given, renewed again")
    #expect(try await third.password(for: key) == "given")
  }

  @Test func `an equal value copies nothing`() throws {
    let (second, third) = (InMemoryStorage(), InMemoryStorage())
    let layered = LayeredStorage([.writing(second), .reading(third)])
    try third.setPassword("given", for: key)
    #expect(try layered[key].update { $0 } == "given")
    #expect(try !second.exists(key))
    // A removal would show the item of the later layer again.
    expectError(.readOnly) { try layered[key].update { _ in nil } }
    #expect(try layered[key].read() == "given")
  }

  @Test func `a write to the later layer wins`() throws {
    let (second, third) = (InMemoryStorage(), InMemoryStorage())
    let layered = LayeredStorage([.writing(second), .reading(third)])
    try third.setPassword("given", for: key)
    var calls = 0
    let last = try layered[key].update { old in
      calls += 1
      if calls == 1 { try third.setPassword("given again", for: key) }
      return (old ?? "") + ", mine"
    }
    #expect(last == "given again, mine" && calls == 2)
    #expect(try second.password(for: key) == "given again, mine")
  }

  @Test func `an item of an earlier layer is refused before the closure runs`() async throws {
    let (first, second) = (InMemoryStorage(), InMemoryStorage())
    let layered = LayeredStorage([.reading(first), .writing(second)])
    try await first.setPassword("given", for: key)
    await expectReadOnly(layered)
    #expect(try await !second.exists(key))
    let readOnly = LayeredStorage([.reading(first), .reading(second)])
    await expectReadOnly(readOnly)
  }

  @Test func `a layer that can't be reached may have the item`() throws {
    let (first, second) = (FaultyStorage(), InMemoryStorage())
    let layered = LayeredStorage([.reading(first, isRequired: false), .writing(second)])
    first.fail(.read, with: .connectionLost)
    expectError(.connectionLost) {
      try layered[key].update { old in
        Issue.record("the closure ran")
        return old
      }
    }
    #expect(try !second.exists(key))
  }

  // MARK: - Storages that can't be written

  private func expectReadOnly(_ storage: some SecureStorage) async {
    let errors = [
      blocking {
        expectError(.readOnly) {
          try storage[key].update { old in
            Issue.record("the closure ran")
            return old
          }
        }
      },
      await expectError(.readOnly) {
        try await storage[key].refresh(if: { _ in true }) { old in
          Issue.record("the closure ran")
          return old
        }
      },
    ]
    #expect(errors.allSatisfy { $0?.recoverySuggestion?.isEmpty == false })
  }

  @Test func `a storage that can't be written returns valid values, and refuses to renew`()
    async throws
  {
    let directory = TemporaryDirectory()
    try directory.write("given", "account")
    let storage = CredentialsDirectoryStorage(service: "service", directory: directory.path)
    #expect(try await storage[key].refresh(if: { _ in false }) { _ in "new" } == "given")
    await expectReadOnly(storage)
    await expectReadOnly(FirstAvailableStorage([storage], remembering: .nowhere))
    await expectReadOnly(FaultyStorage(storage))
  }

  // MARK: - Selections

  @Test func `the first storage that works is the one whose turn is taken`() async throws {
    let (first, second) = (FaultyStorage(), FaultyStorage())
    for operation in [SecureStorageError.Operation.read, .save, .takeTurn] {
      first.fail(operation, with: .noProvider)
    }
    let storage = FirstAvailableStorage([first, second], remembering: .nowhere)
    #expect(try await storage[key].update { _ in "first" } == "first")
    #expect(try await storage[key].refresh(if: { _ in true }) { $0 + ", next" } == "first, next")
    #expect(try await second.password(for: key) == "first, next")
    #expect(second.count(of: .takeTurn) == 2)
  }

  // MARK: - Caches

  @Test func `a cache has the new value when the refresh returns`() async throws {
    let base = SilentlyChangingStorage()
    let cached = base.cached()
    try await cached[key].write("old")
    #expect(try await cached[key].read() == "old")
    #expect(try await cached[key].refresh(if: { $0 == "old" }) { _ in "new" } == "new")
    #expect(try await cached[key].read() == "new")
    #expect(try await base[key].read() == "new")
    // Another handle stores a value, and the cache doesn't notice.
    try await base[key].write("theirs")
    #expect(try await cached[key].read() == "new")
    let found = try await cached[key].refresh(if: { $0 == "new" }) { old in
      Issue.record("the closure ran with \(old)")
      return "mine"
    }
    #expect(found == "theirs")
    #expect(try await cached[key].read() == "theirs")
  }

  @Test func `a cache has what another one stores while it waits`() async throws {
    let base = FaultyStorage(SilentlyChangingStorage())
    let (cached, other, key) = (base.cached(), base.cached(), key)
    try await cached[key].write("old")
    #expect(try await cached[key].read() == "old")
    let (isRunning, mayEnd) = (SharedOutcome<Void>(), SharedOutcome<Void>())
    let theirs = Task {
      try await other[key].refresh(if: { $0 == "old" }) { _ in
        isRunning.settle(())
        _ = await mayEnd.wait(until: nil)
        return "theirs"
      }
    }
    _ = await isRunning.wait(until: nil)
    let mine = Task {
      try await cached[key].refresh(if: { $0 == "old" }) { old in
        Issue.record("the closure ran with \(old)")
        return "mine"
      }
    }
    #expect(await waitUntil { base.count(of: .takeTurn) == 2 })
    mayEnd.settle(())
    #expect(try await theirs.value == "theirs")
    #expect(try await mine.value == "theirs")
    #expect(try await cached[key].read() == "theirs")
  }

  // MARK: - Those who follow a value

  @Test(arguments: TurnStorage.allCases.filter { $0.new is any ObservableStorage })
  func `observers get one event for an update`(kind: TurnStorage) async throws {
    guard let storage = kind.new as? any ObservableStorage else { return }
    let events = try await EventLog(of: storage, .key(key))
    try await storage[key].update { _ in "first" }
    try await storage[key].update { _ in "second" }
    try blocking { try storage[key].refresh(if: { _ in true }) { _ in "third" } }
    try await storage[key].refresh(if: { _ in false }) { _ in "never" }
    try await storage[key].update { $0 }
    try await storage[key].update { _ in nil }
    events.wait(for: .changed(.removed(key)))
    #expect(events.changes == [.created(key), .replaced(key), .replaced(key), .removed(key)])
  }

  @Test(arguments: TurnStorage.allCases)
  func `tracked views follow an update`(kind: TurnStorage) async throws {
    try await withSecureStorage(kind.new) { () async throws in
      let settings = Settings()
      let follower = Follower { settings.token }
      defer { follower.end() }
      try await settings.$token.update { _ in "first" }
      #expect(await waitUntil { follower.last == "first" })
      try await settings.$token.refresh(if: { $0 == "first" }) { _ in "second" }
      #expect(await waitUntil { follower.last == "second" })
      try await settings.$token.update { _ in nil }
      #expect(await waitUntil { follower.last == .some(nil) })
    }
  }

  /// A view may show tokens only by a refresh.
  @Test(.secureStorage()) func `a blocking refresh is a read that is tracked`() async throws {
    let settings = Settings()
    settings.token = "first"
    let byCondition = Tracked { try? settings.$token.refresh(if: { _ in false }) { $0 } }
    let byTime = Tracked { try? settings.$token.refresh(within: .seconds(60)) { $0 } }
    #expect(byCondition.first == "first" && byTime.first == "first")
    settings.token = "second"
    #expect(await byCondition.wasTold())
    #expect(await byTime.wasTold())
  }

  @Test(.secureStorage()) func `a failure of an assignment ends with an update`() throws {
    let settings = Settings()
    let faulty = FaultyStorage()
    withSecureStorage(faulty, failureHandler: ignore) {
      faulty.fail(.save, with: .locked)
      settings.token = "lost"
      #expect(settings.$token.failure?.code == .locked)
      faulty.reset()
      #expect(throws: Never.self) { try settings.$token.update { _ in "stored" } }
      #expect(settings.$token.failure == nil)
    }
  }
}
