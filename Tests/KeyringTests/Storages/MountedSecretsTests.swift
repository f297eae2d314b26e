// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

/// Secrets in a directory whose files are replaced all at once, as Kubernetes does it.
@Suite(.tags(.threads), .timeLimit(.minutes(5))) struct MountedSecretsTests {
  private let service = "org.example.app"

  private func storage(_ secrets: MountedSecrets) -> CredentialsDirectoryStorage {
    CredentialsDirectoryStorage(service: service, directory: secrets.path)
  }

  private func password(_ account: String) -> ItemKey {
    .password(service: service, account: account)
  }

  /// `Scripts/stress` sets the variable.
  private static let swaps =
    ProcessInfo.processInfo.environment["KEYRING_TEST_SECONDS"] == nil ? 500 : 10_000

  @Test(.tags(.stress), arguments: MountedSecrets.Links.allCases)
  func `no read mixes versions, and no observer misses the last one`(
    links: MountedSecrets.Links
  ) async throws {
    let secrets = try MountedSecrets(links: links)
    try await secrets.write(versions: 1...1)
    let storage = storage(secrets)
    let cached = storage.cached()
    let readers = VersionReaders(service: service)
    let observers = [1, 2].map { _ in VersionObserver(of: password("first")) }
    let observations = try observers.map { try $0.observe(storage, service: service) }
    try await withThrowingTaskGroup { group in
      for (storage, byKeys) in [(storage as any SecureStorage, true), (storage, false)] {
        group.addTask { await readers.run(storage, byKeys: byKeys) }
        group.addTask { await readers.run(cached, byKeys: true) }
      }
      await readers.waitForReads()
      try await secrets.write(versions: 2...Self.swaps)
      readers.end()
      try await group.waitForAll()
    }
    readers.expectNoFaults(Self.swaps)
    for observer in observers { await observer.expectLast(Self.swaps, of: Self.swaps) }
    try followEach(from: Self.swaps + 1, secrets, observers)
    for observation in observations { observation.cancel() }
  }

  /// The number of swaps for each pause in milliseconds: under stress, and otherwise.
  private static let paces = [0: (10_000, 200), 5: (10_000, 100), 50: (1_000, 20), 500: (200, 4)]

  @Test(.tags(.stress), arguments: [0, 5, 50, 500], ["/var/tmp", "/dev/shm"])
  func `eight readers of one cache see one version in each call, at any pace`(
    milliseconds: Int, directory: String
  ) async throws {
    let pace = try #require(Self.paces[milliseconds])
    let swaps = Self.swaps == 500 ? pace.1 : pace.0
    let secrets = try MountedSecrets(in: directory)
    try await secrets.write(versions: 1...1)
    let storage = storage(secrets)
    let cached = storage.cached()
    let others: [any SecureStorage] = [
      LayeredStorage([.reading(storage), .writing(InMemoryStorage())]).cached(),
      FirstAvailableStorage([storage], remembering: .nowhere),
    ]
    let readers = VersionReaders(service: service)
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { await readers.run(cached, byKeys: true) } }
      for other in others { group.addTask { await readers.run(other, byKeys: true) } }
      await readers.waitForReads()
      try await secrets.write(versions: 2...swaps, milliseconds: milliseconds)
      readers.end()
      try await group.waitForAll()
    }
    readers.expectNoFaults(swaps, "with pauses of \(milliseconds) ms in \(directory)")
  }

  /// Expects that each of some versions that stand for a while is reported once.
  private func followEach(
    from first: Int, _ secrets: MountedSecrets, _ observers: [VersionObserver]
  ) throws {
    // The reports before this one are no longer under way.
    try secrets.write(["first": "0", "second": "0", "last": "0"])
    for observer in observers { observer.log.wait(for: .changed(.created(password("last")))) }
    for observer in observers { observer.log.wait(for: .changed(.replaced(password("second")))) }
    let before = observers.map(\.count)
    for number in first..<first + 10 {
      try secrets.write(["first": "\(number)", "second": "\(number)", "last": "0"])
      for observer in observers { observer.log.wait(for: .changed(.replaced(password("second")))) }
    }
    #expect(observers.map(\.count) == before.map { $0 + 10 })
  }

  // MARK: - Files and links

  @Test(arguments: MountedSecrets.Links.allCases)
  func `a file beside the versions is read as it is`(links: MountedSecrets.Links) throws {
    let secrets = try MountedSecrets(links: links)
    try secrets.write(["token": "of the version", "hidden": "of the version"])
    try Data("beside".utf8).write(to: URL(fileURLWithPath: secrets.path + "/plain"))
    try Data("elsewhere".utf8).write(to: URL(fileURLWithPath: secrets.path + "/..other"))
    try FileManager.default.createSymbolicLink(
      atPath: secrets.path + "/link", withDestinationPath: "..other")
    try FileManager.default.createSymbolicLink(
      atPath: secrets.path + "/renamed", withDestinationPath: "..data/token")
    try FileManager.default.removeItem(atPath: secrets.path + "/hidden")
    try Data("in front".utf8).write(to: URL(fileURLWithPath: secrets.path + "/hidden"))
    let found = try storage(secrets).items(matching: .service(service, details: .secret))
    let texts = Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0.secret?.text) })
    let expected = [
      "token": "of the version", "renamed": "of the version", "plain": "beside",
      "link": "elsewhere", "hidden": "in front",
    ]
    for (name, text) in expected {
      #expect(texts[password(name)] == text)
      #expect(try storage(secrets).password(for: password(name)) == text)
    }
    #expect(texts.count == expected.count)
    #expect(try storage(secrets).password(for: password("absent")) == nil)
  }

  /// A newer kubelet creates the link of a new file after the version is the current one.
  @Test func `a file of the version without a link is there`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "new"])
    try FileManager.default.removeItem(atPath: secrets.path + "/token")
    #expect(try storage(secrets).password(for: password("token")) == "new")
    #expect(try storage(secrets).items(matching: .service(service)).count == 1)
  }

  @Test func `a link to another item is of the version of the call`() async throws {
    let secrets = try MountedSecrets()
    try await secrets.write(versions: 1...1)
    for (name, target) in [("second", "first"), ("third", "\(secrets.path)/..data/first")] {
      try? FileManager.default.removeItem(atPath: "\(secrets.path)/\(name)")
      try FileManager.default.createSymbolicLink(
        atPath: "\(secrets.path)/\(name)", withDestinationPath: target)
    }
    let (storage, keys) = (storage(secrets), ["first", "second", "third"].map(password))
    async let writing: Void = secrets.write(versions: 2...300)
    var texts: Set<String?> = []
    repeat {
      let found = try await storage.items(for: keys, details: .secret)
      texts = Set(found.values.map(\.secret?.text))
      #expect(found.count == 3 && texts.count == 1)
    } while texts != ["300"]
    try await writing
  }

  @Test func `a link to a version that is gone is an error`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "old"])
    try FileManager.default.removeItem(atPath: secrets.path + "/..data")
    expectError(.other) { try storage(secrets).password(for: password("token")) }
    try FileManager.default.createSymbolicLink(
      atPath: secrets.path + "/..data", withDestinationPath: "..gone")
    for name in ["token", "without a link"] {
      let error = expectError(.other) { try storage(secrets).password(for: password(name)) }
      #expect(error?.message.contains("to a directory that is gone") == true)
    }
  }

  @Test func `a version without files has no items`() throws {
    let secrets = try MountedSecrets()
    try secrets.write(["token": "old"])
    try secrets.write([:])
    #expect(try storage(secrets).password(for: password("token")) == nil)
    #expect(try storage(secrets).items(matching: .service(service)).isEmpty)
  }

  /// An agent may also replace a link to the whole directory, or to the one around it.
  @Test(arguments: ["", "/app"])
  func `a directory that a link leads to is read in one version`(below: String) async throws {
    let directory = TemporaryDirectory()
    // The system takes longer for this link, so that the version is often removed in the meantime.
    try directory.link("here", to: String(repeating: "./", count: 2000))
    func write(_ number: Int) throws {
      try directory.makeDirectory("\(number)")
      if !below.isEmpty { try directory.makeDirectory("\(number)\(below)") }
      for name in ["first", "second"] {
        try directory.write("\(number)", "\(number)\(below)/\(name)")
      }
      try directory.link("new", to: String(repeating: "here/", count: 10) + "\(number)")
      try directory.rename("new", to: "current")
      if number > 0 {
        try directory.remove("\(number - 1)")
      }
    }
    try write(0)
    let readers = VersionReaders(service: service, hasOdd: false)
    let storage = CredentialsDirectoryStorage(
      service: service, directory: "\(directory.path)/current\(below)")
    try await withThrowingTaskGroup { group in
      for byKeys in [true, false] {
        group.addTask { await readers.run(storage, byKeys: byKeys) }
      }
      await readers.waitForReads()
      for number in 1...100 {
        try write(number)
        await Task.yield()
      }
      readers.end()
      try await group.waitForAll()
    }
    readers.expectNoFaults(100)
  }
}

/// An observer that reads a number after each change of it.
private final class VersionObserver: Sendable {
  let log = EventLog()
  private let key: ItemKey
  private let last = Mutex<String?>(nil)

  init(of key: ItemKey) { self.key = key }

  /// The number of reported changes of the number.
  var count: Int { log.changes.count { $0 == .replaced(key) } }

  func observe(
    _ storage: some ObservableStorage, service: String
  ) throws -> StorageSubscription {
    try storage.observe(.service(service)) { [weak self, log, key] event in
      if event == .changed(.replaced(key)) {
        let text = try? storage.password(for: key)
        self?.last.withLock { $0 = text }
      }
      log.append(event)
    }
  }

  func expectLast(_ number: Int, of swaps: Int) async {
    let isLast = await waitUntil { last.withLock { $0 } == "\(number)" }
    #expect(isLast, "the last number is \(last.withLock { $0 } ?? "none")")
    print("\(swaps) swaps: \(count) versions were reported")
    #expect((1..<swaps).contains(count))
  }
}

/// Readers that look for what no version of the directory has.
private final class VersionReaders: Sendable {
  private struct Counts {
    var reads = 0
    var mixed = 0
    var absent = 0
    var failures: [String] = []
  }

  private let service: String
  private let hasOdd: Bool
  private let counts = Mutex(Counts())
  private let isDone = Atomic(false)

  init(service: String, hasOdd: Bool = true) {
    (self.service, self.hasOdd) = (service, hasOdd)
  }

  func waitForReads() async { _ = await waitUntil { counts.withLock { $0.reads > 10 } } }

  func end() { isDone.store(true, ordering: .relaxed) }

  func run(_ storage: some SecureStorage, byKeys: Bool) async {
    while !isDone.load(ordering: .relaxed) {
      do throws(SecureStorageError) {
        check(byKeys ? try await read(storage) : try await list(storage))
      } catch {
        counts.withLock { $0.failures.append("\(error)") }
      }
      // A cache answers at once, and would keep the thread from the other tasks.
      await Task.yield()
    }
  }

  private func key(_ account: String) -> ItemKey {
    .password(service: service, account: account)
  }

  private func read(
    _ storage: some SecureStorage
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    try await storage.items(for: ["first", "second", "odd"].map(key), details: .secret)
  }

  private func list(
    _ storage: some SecureStorage
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let items = try await storage.items(matching: .service(service, details: .secret))
    return Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0) })
  }

  private func check(_ items: [ItemKey: SecureItem]) {
    let numbers = items.mapValues { $0.secret?.text.flatMap { Int($0) } ?? -1 }
    let (first, second) = (numbers[key("first")], numbers[key("second")])
    let odd = first.flatMap { hasOdd && $0 % 2 == 1 ? $0 : nil }
    let isMixed = second != first || numbers[key("odd")] != odd
    counts.withLock { counts in
      counts.reads += 1
      if first == nil || second == nil { counts.absent += 1 } else if isMixed { counts.mixed += 1 }
    }
  }

  func expectNoFaults(_ swaps: Int, _ circumstances: String = "") {
    let counts = counts.withLock { $0 }
    let (mixed, absent) = (counts.mixed, counts.absent)
    print(
      "\(swaps) swaps \(circumstances): of \(counts.reads) reads, \(mixed) mixed, \(absent) absent")
    #expect(counts.reads > 0 && counts.mixed == 0 && counts.absent == 0)
    #expect(counts.failures.isEmpty, "\(counts.failures.first ?? "")")
  }
}
#endif
