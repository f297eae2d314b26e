// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import StorageModel
import Synchronization
import Testing

@testable import KeyringSecretService

/// A provider that answers with whatever a random generator chooses.
///
/// `KEYRING_TEST_SEED` repeats a run, and `KEYRING_TEST_OPERATIONS` makes it longer.
@Suite(.withOwnKeyring, .tags(.stress)) struct HostileProviderTests {
  /// The provider that the hostile one passes for, by its name on the bus.
  enum Disguise: String, CaseIterable {
    case none
    case gnomeKeyring = "org.gnome.keyring"
    case kwallet = "org.kde.kwalletd6"
    case keepassxc = "org.keepassxc.KeePassXC.MainWindow"
  }

  /// The operations of all runs together: 2,000, or the number that `Scripts/stress` sets.
  private static let operations =
    ProcessInfo.processInfo.environment["KEYRING_TEST_OPERATIONS"].flatMap(Int.init) ?? 2000

  // The test has a process of its own, which a fault may end.
  @Test(.timeLimit(.minutes(60)), arguments: Disguise.allCases)
  func `nothing gives way to a hostile provider`(disguise: Disguise) async {
    let seed = SeededGenerator.seed
    let name = disguise.rawValue
    let operations = Self.operations / Disguise.allCases.count
    let process = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent], "the seed is \(seed)"
    ) { [seed = seed as UInt64, name = name as String, operations = operations as Int] in
      do {
        let trial = try HostileTrial(seed: seed, passingFor: name == "none" ? nil : name)
        trial.run(operations: operations)
        try trial.expectHealth(after: operations)
      } catch {
        // What the process prints when it ends by an error is lost.
        Issue.record(error)
      }
    }
    let output = String(decoding: process?.standardOutputContent ?? [], as: UTF8.self)
    for line in output.split(separator: "\n") where line.hasPrefix("hostile: ") {
      print("\(line), as \(disguise), with KEYRING_TEST_SEED=\(seed)")
    }
  }

  /// A failed run can be repeated.
  @Test func `a seed decides what a hostile provider does`() throws {
    func misdeeds(_ seed: UInt64) throws -> [String] {
      let bus = try PrivateBus()
      let service = try FakeService(on: bus, modes: [.hostile(seed: seed)])
      try service.quiet()
      let client = try bus.connect()
      CallLoop.runToEnd {
        for _ in 0..<500 {
          // The provider may never answer.
          _ = try? await client.send(
            [.readAlias("default")], to: MethodCall.secrets,
            until: Deadline(after: .milliseconds(20)))
        }
      }
      return try service.makeHonest()
    }
    let first = try misdeeds(1)
    #expect(first.count > 50 && Set(first).count > 10, "\(first)")
    #expect(try misdeeds(1).starts(with: first.prefix(20)))
    #expect(try misdeeds(2).starts(with: first.prefix(20)) == false)
  }
}

/// Operations of several threads and tasks at once, whose results must be right or errors, and in time.
private final class HostileTrial: Sendable {
  private static let timeout = Duration.milliseconds(150)
  /// The time after which an operation is taken to hang.
  ///
  /// It waits for another operation and a prompt, and for itself and a prompt. A busy machine takes its time, too.
  private static let limit = timeout * 4 + .seconds(15)
  private static let workers = 6
  private static let keysOfEach = 4

  private let seed: UInt64
  nonisolated(unsafe) private let bus: PrivateBus
  nonisolated(unsafe) private let service: FakeService
  nonisolated(unsafe) private let disk = FakeService.Disk()
  private let storage: SecretServiceStorage
  private let cached: CachedStorage<SecretServiceStorage>
  /// The number of values so far, each of which has another number.
  private let values = Atomic(0)
  private let operationsLeft: Atomic<Int> = Atomic(0)
  private let results = Mutex<[String: Int]>([:])
  private let failures = Mutex<[String]>([])
  /// The operations in progress, by the worker.
  private let inProgress = Mutex<[Int: (name: String, start: ContinuousClock.Instant)]>([:])

  init(seed: UInt64, passingFor name: String?) throws {
    self.seed = seed
    bus = try PrivateBus()
    let modes: [FakeService.Mode] = [.hostile(seed: seed)] + (seed % 2 == 0 ? [.encrypted] : [])
    // What must stay as it is was stored by an honest provider.
    let first = try FakeService(on: bus, modes: [], disk: disk)
    try first.quiet()
    for key in Self.bystanders { try bus.storage().setPassword(Self.name(of: key), for: key) }
    try first.end()
    service = try FakeService(on: bus, modes: modes, disk: disk)
    try service.quiet()
    if let name { try service.takeName(name) }
    storage = bus.storage(serviceTimeout: Self.timeout, promptTimeout: Self.timeout)
    cached = storage.cached()
  }

  // MARK: - Keys and values

  /// Items that no operation concerns, and whose value is their name.
  private static let bystanders = (0..<5).map {
    ItemKey.password(service: "bystander", account: "\($0)")
  }

  private static func service(of worker: Int) -> String { "worker\(worker)" }

  /// The keys under which a worker stores its values, the last of which is a credential's.
  private static func keys(of worker: Int) -> [ItemKey] {
    (0..<keysOfEach - 1).map { .password(service: service(of: worker), account: "\($0)") }
      + [.credentials(service: service(of: worker), label: "login")]
  }

  private static let keys = (0..<workers).flatMap(keys)

  private static func name(of key: ItemKey) -> String {
    "\(key.attributes["service"] ?? "")/\(key.attributes["username"] ?? "login")"
  }

  /// Returns a value that names its key, and that no other write stores.
  private func newValue(for key: ItemKey) -> String {
    let number = values.add(1, ordering: .relaxed).newValue
    return "\(Self.name(of: key))#\(number)#" + String(repeating: "x", count: number % 5 * 1000)
  }

  /// Expects that a value is one that was stored under the key.
  private func check(_ value: String?, of key: ItemKey, _ place: String) {
    guard let value else { return }
    let parts = value.split(separator: "#", omittingEmptySubsequences: false)
    let number = parts.count == 3 ? Int(parts[1]) ?? .max : .max
    if parts[0] == Self.name(of: key), number <= values.load(ordering: .relaxed),
      parts[2].count == number % 5 * 1000
    {
      return
    }
    fail("\(place): \(key) has the value \"\(value.prefix(60))\"")
  }

  private func check(_ item: SecureItem, _ place: String) {
    check(item.secret?.text, of: item.key, place)
    guard item.key.kind == .credentials, let login = item.attributes?["username"] else { return }
    check(login, of: item.key, place)
    if let password = item.secret?.text, password != login {
      fail("\(place): the login \"\(login)\" has the password of another")
    }
  }

  private func check(_ credential: Credential?, of key: ItemKey, _ place: String) {
    check(credential?.password, of: key, place)
    if let credential, credential.login != credential.password {
      fail("\(place): the login \"\(credential.login)\" has the password of another")
    }
  }

  private func fail(_ text: String) { failures.withLock { $0.append(text) } }

  // MARK: - Operations

  func run(operations: Int) {
    operationsLeft.store(operations, ordering: .relaxed)
    let observation = try? storage.observe(.service(Self.service(of: 0))) { _ in }
    let group = DispatchGroup()
    for worker in 0..<Self.workers {
      if worker.isMultiple(of: 2) {
        group.enter()
        Task {
          await self.work(worker)
          group.leave()
        }
      } else {
        Thread.detachNewThread { self.workBlocking(worker, group) }
        group.enter()
      }
    }
    while group.wait(timeout: .now() + 1) == .timedOut {
      let late = inProgress.withLock { operations in
        operations.values.filter { ContinuousClock.now - $0.start > Self.limit * 2 }
      }
      // What hangs doesn't end by itself.
      if !late.isEmpty {
        Issue.record("with the seed \(seed), these hang: \(late.map(\.name))")
        exit(1)
      }
    }
    _ = observation
    let failures = failures.withLock { $0 }
    #expect(failures.isEmpty)
    print("hostile: \(operations) operations: \(Self.text(results.withLock { $0 }))")
  }

  private static func text(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }

  private func takeOperation() -> Bool {
    operationsLeft.subtract(1, ordering: .relaxed).newValue >= 0
  }

  private func begin(_ name: String, _ worker: Int) -> ContinuousClock.Instant {
    let start = ContinuousClock.now
    inProgress.withLock { $0[worker] = (name, start) }
    return start
  }

  private func end(
    _ name: String, _ worker: Int, since start: ContinuousClock.Instant, _ error: (any Error)?
  ) {
    inProgress.withLock { $0[worker] = nil }
    let time = ContinuousClock.now - start
    let code = (error as? SecureStorageError)?.code
    // Nobody provides the service for a while. Almost all operations would be such.
    if code == .noProvider { operationsLeft.add(1, ordering: .relaxed) }
    if time > Self.limit { fail("\(name) has taken \(time), and ended with \(error as Any)") }
    let result = code?.rawValue ?? error.map { "\($0)" } ?? "done"
    results.withLock { $0[result, default: 0] += 1 }
  }

  private func workBlocking(_ worker: Int, _ group: DispatchGroup) {
    var random = SeededGenerator(seed: seed &+ UInt64(worker))
    while takeOperation() {
      let key = random.pick(Self.keys)
      let own = random.pick(Self.keys(of: worker))
      let name = random.pick(Self.blockingOperations)
      let start = begin(name, worker)
      do {
        try performBlocking(name, key, own, worker)
        end(name, worker, since: start, nil)
      } catch {
        end(name, worker, since: start, error)
      }
    }
    group.leave()
  }

  private static let blockingOperations =
    ["read", "read", "read", "read", "list", "find", "save", "save", "save", "add", "remove"]
    + ["exists", "observe", "cached", "cached", "cached save", "remove all"]

  private func performBlocking(
    _ name: String, _ key: ItemKey, _ own: ItemKey, _ worker: Int
  ) throws {
    switch name {
    case "read": try read(key, storage, name)
    case "cached": try read(key, cached, name)
    case "list":
      for item in try storage.items(matching: .service(Self.service(of: worker), details: .all)) {
        check(item, name)
      }
    case "find":
      for (key, item) in try storage.items(for: Self.keys, details: .all) {
        if key != item.key { fail("\(name): \(key) has \(item.key)") }
        check(item, name)
      }
    case "save": try save(own, .addOrReplace, storage)
    case "cached save": try save(own, .addOrReplace, cached)
    case "add": try save(own, .add, storage)
    case "remove": _ = try storage.remove(own)
    case "exists": _ = try storage.exists(key)
    case "observe": _ = try storage.observe(.key(key)) { _ in }
    default: _ = try storage.removeItems(matching: .service(Self.service(of: worker)))
    }
  }

  /// Returns the password under a key of either kind.
  private func password(_ key: ItemKey, _ storage: some SecureStorage) throws -> String? {
    key.kind == .credentials
      ? try storage[key, as: .credential].read()?.password : try storage.password(for: key)
  }

  private func read(_ key: ItemKey, _ storage: some SecureStorage, _ place: String) throws {
    if key.kind == .credentials {
      check(try storage[key, as: .credential].read(), of: key, place)
    } else {
      check(try storage.password(for: key), of: key, place)
    }
  }

  /// Saves a new value under a key of either kind, and returns it.
  @discardableResult
  private func save(
    _ key: ItemKey, _ mode: SaveMode, _ storage: some SecureStorage
  ) throws -> String {
    let value = newValue(for: key)
    if key.kind == .credentials {
      try storage[key, as: .credential].write(Credential(login: value, password: value), mode: mode)
    } else {
      try storage.setPassword(value, for: key, mode: mode)
    }
    return value
  }

  private func work(_ worker: Int) async {
    var random = SeededGenerator(seed: seed &+ UInt64(worker))
    while takeOperation() {
      let key = random.pick(Self.keys)
      let own = random.pick(Self.keys(of: worker))
      let name = random.pick(["awaited read", "awaited read", "awaited find", "awaited save"])
      let start = begin(name, worker)
      do {
        switch name {
        case "awaited find":
          for (key, item) in try await storage.items(for: Self.keys(of: worker), details: .all) {
            if key != item.key { fail("\(name): \(key) has \(item.key)") }
            check(item, name)
          }
        case "awaited save":
          let value = newValue(for: own)
          if own.kind == .credentials {
            try await storage[own, as: .credential].write(Credential(login: value, password: value))
          } else {
            try await storage.setPassword(value, for: own)
          }
        default:
          if key.kind == .credentials {
            check(try await storage[key, as: .credential].read(), of: key, name)
          } else {
            check(try await storage.password(for: key), of: key, name)
          }
        }
        end(name, worker, since: start, nil)
      } catch {
        end(name, worker, since: start, error)
      }
    }
  }

  // MARK: - Health

  /// Makes the provider honest, and expects that its items are as they should be, and that everything works.
  func expectHealth(after operations: Int) throws {
    let misdeeds = try service.makeHonest()
    let counts = Dictionary(grouping: misdeeds) { $0 }.mapValues(\.count)
    print("hostile: \(misdeeds.count) misdeeds: \(Self.text(counts))")
    #expect(misdeeds.count > operations / 5 && counts.count > 12)
    let storage = bus.storage()
    // The first calls may hear of the last provider's end.
    #expect(waitUntil { (try? storage.isLocked()) == false })
    for key in Self.bystanders {
      #expect(try storage.password(for: key) == Self.name(of: key))
    }
    #expect(try disk.items(["service": "bystander"]).count == Self.bystanders.count)
    for item in try disk.items() where item.attributes["service"] != "bystander" {
      let key = try #require(
        Self.keys.first {
          $0.attributes.allSatisfy { item.attributes[$0] == $1 }
        }, "\(item)")
      check(item.text, of: key, "on disk")
    }
    for worker in 0..<Self.workers {
      for item in try storage.items(matching: .service(Self.service(of: worker), details: .all)) {
        check(item, "afterwards")
      }
      for key in Self.keys(of: worker) {
        try read(key, storage, "afterwards")
        try expectUse(of: key, storage)
      }
      #expect(failures.withLock { $0 } == [])
      let count = try storage.removeItems(matching: .service(Self.service(of: worker)))
      #expect(count == Self.keysOfEach)
      #expect(try bus.search(["service": Self.service(of: worker)]).isEmpty)
    }
  }

  private func expectUse(of key: ItemKey, _ storage: SecretServiceStorage) throws {
    let log = try EventLog(of: storage, .key(key))
    try storage.remove(key)
    #expect(try !storage.exists(key))
    for mode in [SaveMode.add, .update] {
      let value = try save(key, mode, storage)
      #expect(try password(key, storage) == value)
      #expect(try waitUntil { try password(key, cached) == value })
    }
    // A removal and an addition right after it may be one change.
    #expect(waitUntil { log.changes.contains { $0.key == key } })
  }
}
#endif
