// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringMigration
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Migrations of items from one storage to another.
@Suite struct MigrationTests {
  private static let service = "org.example.app"
  private let old = InMemoryStorage()
  private let new = InMemoryStorage()
  private let query = ItemQuery.service(service)

  /// Items of several kinds, with everything that an item can have.
  ///
  /// They don't fit in one message.
  private static let items =
    (0..<9).map { number in
      SecureItem(
        key: .password(service: service, account: "\(number)"), secret: Secret("s3cret \(number)"),
        label: "label \(number)", attributes: ["comment": "of \(number)"])
    } + [
      SecureItem(
        key: .credentials(service: service, label: "login"), secret: Secret("pa55"),
        attributes: ["username": "ada"]),
      SecureItem(
        key: .value(service: service, account: "bytes"), secret: Secret(bytes: [0, 0xFF])),
    ]

  private func fill(_ storage: InMemoryStorage, with items: [SecureItem] = items) throws {
    for item in items { try storage.save(item, mode: .add) }
  }

  private func expectAll(
    _ items: [SecureItem] = items, in storage: InMemoryStorage, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let all = try storage.items(matching: ItemQuery(details: .all))
    #expect(all.count == items.count, comment, sourceLocation: sourceLocation)
    for item in items {
      let found = try #require(try storage.item(for: item.key), comment)
      #expect(found.secret == item.secret, comment, sourceLocation: sourceLocation)
      #expect(
        found.label == item.label ?? item.key.defaultLabel, comment, sourceLocation: sourceLocation)
      #expect(
        found.attributes == item.attributes ?? [:], comment, sourceLocation: sourceLocation)
    }
  }

  private func expectNone(
    in storage: InMemoryStorage, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(
      try storage.items(matching: ItemQuery()).isEmpty, comment, sourceLocation: sourceLocation)
  }

  // MARK: - Moved items

  @Test func `a migration moves the items of a query with everything they have`() throws {
    try fill(old)
    let other = ItemKey.password(service: "another", account: "0")
    try old.setPassword("stays", for: other)
    #expect(try Migration(of: query, from: old, to: new).move().count == Self.items.count)
    try expectAll(in: new)
    #expect(try old.items(matching: ItemQuery()).map(\.key) == [other])
  }

  /// It has a thread of its own, because the source can block even if the destination doesn't.
  @Test func `an asynchronous migration copies and moves the same items`() async throws {
    try fill(old)
    let onOwnThread = Mutex<Set<Bool>>([])
    let migration = Migration(of: query, from: old, to: new) { _ in
      onOwnThread.withLock { _ = $0.insert(Cancellation.current != nil) }
    }
    #expect(try await migration.copy().count == Self.items.count)
    try expectAll(in: old)
    #expect(try await migration.move().count == Self.items.count)
    try expectAll(in: new)
    #expect(try await migration.move().count == 0)
    #expect(onOwnThread.withLock { $0 } == [true])
  }

  @Test func `a copy leaves the items in the source`() throws {
    try fill(old)
    let migration = Migration(of: query, from: old, to: new)
    for _ in 1...2 { #expect(try migration.copy().count == Self.items.count) }
    try expectAll(in: old)
    try expectAll(in: new)
  }

  @Test func `a migration leaves the probe of another one alone`() throws {
    let probe = ItemKey.value(service: "swift-keyring probe", account: "another")
    try new.save(SecureItem(key: probe, secret: Secret("")), mode: .add)
    try fill(old)
    try fill(new)
    #expect(try Migration(of: query, from: old, to: new).move().count == Self.items.count)
    #expect(try new.items(matching: .service("swift-keyring probe")).map(\.key) == [probe])
  }

  @Test(arguments: [SecureStorageError.Code.connectionLost, .other])
  func `a probe is removed even if its storing seems to have failed`(
    code: SecureStorageError.Code
  ) throws {
    try fill(old)
    try fill(new)
    let destination = FaultyStorage(new)
    destination.failAfterCompletion(.save, with: code, onCall: 1)
    expectError(code) { try Migration(of: query, from: old, to: destination).move() }
    #expect(try new.items(matching: .service("swift-keyring probe")).isEmpty)
  }

  /// A user of a fleet has access to the items of some services.
  @Test func `a migration needs access only to the service of its items`() throws {
    try fill(old)
    let destination = FaultyStorage(new)
    let denied = SecureStorageError(.accessDenied, operation: .save, backendName: "test")
    destination.fail {
      $0.operation == .save && $0.keys.first?.service != Self.service ? denied : nil
    }
    for _ in 1...2 {
      #expect(try Migration(of: query, from: old, to: destination).copy().count == Self.items.count)
    }
    try expectAll(in: new)
  }

  /// The destination finds the item in the source, until it's removed there.
  @Test(arguments: [false, true])
  func `a migration to a layer above the source loses nothing`(isFirst: Bool) throws {
    try fill(old)
    let layers = [LayeredStorage.Layer.writing(new), .reading(old)]
    let destination = LayeredStorage(isFirst ? layers : layers.reversed())
    let migration = Migration(of: query, from: old, to: destination)
    if isFirst {
      #expect(try migration.move().count == Self.items.count)
      try expectAll(in: new)
      try expectNone(in: old)
    } else {
      expectError(.readOnly) { try migration.move() }
      try expectAll(in: old)
    }
  }

  @Test func `a copy checks everything before it writes`() throws {
    try fill(old)
    let key = Self.items[3].key
    try new.setPassword("theirs", for: key)
    expectError(.itemAlreadyExists) { try Migration(of: query, from: old, to: new).copy() }
    #expect(try new.items(matching: ItemQuery()).map(\.key) == [key])
    let replacing = Migration(of: query, from: old, to: new, replacing: true)
    #expect(try replacing.copy().count == Self.items.count)
    try expectAll(in: new)
    try expectAll(in: old)
  }

  @Test func `a migration moves the items of keys, if they exist`() throws {
    try fill(old)
    let keys = [Self.items[2].key, .password(service: "absent", account: "0"), Self.items[2].key]
    #expect(try Migration(of: keys, from: old, to: new).move().count == 1)
    #expect(try new.items(matching: ItemQuery()).map(\.key) == [keys[0]])
    #expect(try !old.exists(keys[0]))
    #expect(try Migration(of: keys, from: old, to: new).move().count == 0)
  }

  @Test func `labels that no storage accepts are corrected`() throws {
    let keys = Self.items.prefix(2).map(\.key)
    for key in keys { try old.setPassword("s3cret", for: key) }
    let foreign = AlteringStorage(
      base: old,
      whenReading: {
        $0.label = $0.key.attributes["username"] == "0" ? "" : "https://example.org"
      })
    #expect(try Migration(of: keys, from: foreign, to: new).move().count == 2)
    #expect(try new.item(for: keys[0])?.label == keys[0].defaultLabel)
    #expect(try new.item(for: keys[1])?.label == "https:--example.org")
  }

  // MARK: - Refused migrations

  /// A credential with another login is another value.
  @Test(arguments: [items[10].key, items[9].key])
  func `a migration never overwrites another value`(key: ItemKey) throws {
    try fill(old)
    try new.save(
      SecureItem(
        key: key, secret: Secret("pa55"),
        attributes: key.kind == .credentials ? ["username": "bob"] : nil), mode: .add)
    let error = expectError(.itemAlreadyExists) {
      try Migration(of: query, from: old, to: new).move()
    }
    #expect(error?.message.contains("\(key)") == true)
    #expect(try new.items(matching: ItemQuery()).count == 1, "nothing was written")
    #expect(try new.secret(for: key) == Secret("pa55"))
    try expectAll(in: old)
  }

  @Test func `an item that is added during a migration is not overwritten`() throws {
    try fill(old)
    let key = Self.items[0].key
    let migration = Migration(of: query, from: old, to: new) { [new] progress in
      guard progress.phase == .writing, progress.completed == 0 else { return }
      #expect(throws: Never.self) { try new.setPassword("other", for: key) }
    }
    let error = expectError(.itemAlreadyExists) { try migration.move() }
    #expect(error?.message.contains("\(key)") == true)
    #expect(try new.password(for: key) == "other")
    try expectAll(in: old)
  }

  /// A storage in memory whose changes are counted, of one item or of many.
  private final class CountingStorage: ImmediateStorage, ForwardingStorage, BatchStorage {
    let base = InMemoryStorage()
    let count = Atomic(0)

    func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
      count.add(1, ordering: .relaxed)
      try base.save(item, mode: mode)
    }

    func save(_ changes: [(item: SecureItem, mode: SaveMode)]) throws(SecureStorageError) {
      count.add(1, ordering: .relaxed)
      for (item, mode) in changes where mode == .add {
        if try base.exists(item.key) { throw error(.itemAlreadyExists, during: .save) }
      }
      for (item, mode) in changes { try base.save(item, mode: mode) }
    }
  }

  private let keys = (0..<100).map { ItemKey.password(service: service, account: "\($0)") }

  private func migration(
    to storage: any SecureStorage,
    progress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) -> Migration {
    let values = Mutex(keys.reduce(into: [String: String]()) { $0[$1.account ?? ""] = "s3cret" })
    return Migration(
      of: keys.map { .password($0.account ?? "", as: $0) },
      from: .values(
        read: { name in values.withLock { $0[name] } },
        remove: { names in values.withLock { values in for name in names { values[name] = nil } } }),
      to: storage, progress: progress)
  }

  @Test func `a storage that writes everything for each change gets all items in one`() throws {
    let storage = CountingStorage()
    let migration = migration(to: storage)
    #expect(try migration.copy().count == 100 && migration.copy().count == 100)
    #expect(storage.count.load(ordering: .relaxed) == 1)
    #expect(try migration.move().count == 100)
    #expect(storage.count.load(ordering: .relaxed) == 2)
    #expect(try storage.items(for: keys, details: []).count == 100)
  }

  @Test func `an item that can't be written with others is found and named`() throws {
    let storage = CountingStorage()
    let key = keys[40]
    let migration = migration(to: storage) { progress in
      guard progress.phase == .writing, progress.completed == 0 else { return }
      #expect(throws: Never.self) { try storage.base.setPassword("other", for: key) }
    }
    let error = expectError(.itemAlreadyExists) { try migration.move() }
    #expect(error?.message.contains("\(key)") == true)
    #expect(try storage.password(for: key) == "other" && storage.exists(keys[39]))
    #expect(try !storage.exists(keys[41]))
  }

  @Test(arguments: [false, true])
  func `a migration of a storage to itself is refused`(isReplacing: Bool) throws {
    try fill(old)
    expectError(.invalidArgument, argument: "destination") {
      try Migration(
        of: query, from: FaultyStorage(old), to: old, replacing: isReplacing
      ).move()
    }
    try expectAll(in: old)
  }

  @Test func `a locked source is an error, and not an empty source`() throws {
    try fill(old)
    try old.lock()
    expectError(.locked) { try Migration(of: query, from: old, to: new).move() }
    try expectNone(in: new)
  }

  @Test func `the source keeps its items if one reads back differently`() throws {
    let losses: [@Sendable (inout SecureItem) -> Void] = [
      { $0.secret = Secret("s3cret") }, { $0.label = "label" }, { $0.attributes = [:] },
      { $0.key = .password(service: "elsewhere", account: "8") },
    ]
    for lose in losses {
      let (old, new) = (InMemoryStorage(), InMemoryStorage())
      try fill(old)
      let lossy = AlteringStorage(
        base: new, whenSaving: { if $0.key == MigrationTests.items[8].key { lose(&$0) } })
      let migration = Migration(of: query, from: old, to: lossy)
      expectError(.verificationFailed) { try migration.move() }
      try expectAll(in: old)
    }
  }

  @Test func `a change of the source is noticed before items are removed`() throws {
    try fill(old)
    let key = Self.items[10].key
    let migration = Migration(of: query, from: old, to: new) { [old] progress in
      guard progress.phase == .verifying, progress.completed == 0 else { return }
      #expect(throws: Never.self) { try old[key, as: .secret].write(Secret("newer")) }
    }
    let error = expectError(.sourceChanged) { try migration.move() }
    #expect(error?.message.contains("\(key)") == true)
    #expect(try old.items(matching: query).count == Self.items.count, "nothing was removed")
    #expect(try old.secret(for: key) == Secret("newer"))
    // A second run doesn't decide which of the two values is right either.
    expectError(.itemAlreadyExists) { try Migration(of: query, from: old, to: new).move() }
    try new.remove(key)
    #expect(try Migration(of: query, from: old, to: new).move().count == Self.items.count)
    #expect(try new.secret(for: key) == Secret("newer"))
  }

  @Test func `a change of the source is noticed while items are removed`() throws {
    try fill(old)
    // The newest item is removed first.
    let key = Self.items[0].key
    let migration = Migration(of: query, from: old, to: new) { [old] progress in
      guard progress.phase == .removing, progress.completed == 1 else { return }
      #expect(throws: Never.self) { try old[key, as: .secret].write(Secret("newer")) }
    }
    expectError(.sourceChanged) { try migration.move() }
    #expect(try old.secret(for: key) == Secret("newer"))
  }

  @Test func `a failure shows no secret`() throws {
    try fill(old)
    try new.setPassword("another s3cret", for: Self.items[0].key)
    let error = expectError(.itemAlreadyExists) {
      try Migration(of: query, from: old, to: new).move()
    }
    var text = ""
    dump(error, to: &text)
    #expect(!text.contains("s3cret") && !"\(error as Any)".contains("s3cret"))
    dump(Migration(of: query, from: old, to: new), to: &text)
    #expect(!text.contains("s3cret"))
  }

  // MARK: - Progress

  @Test func `a migration reports each item in each phase`() throws {
    try fill(old)
    let reports = Mutex<[Migration.Progress]>([])
    try Migration(of: query, from: old, to: new) { report in
      reports.withLock { $0.append(report) }
    }.move()
    let all = reports.withLock(\.self)
    let total = Self.items.count
    #expect(all.allSatisfy { $0.total == total })
    for (index, phase) in Migration.Phase.allCases.enumerated() {
      let ofPhase = all[(index * (total + 1))...].prefix(total + 1)
      #expect(ofPhase.allSatisfy { $0.phase == phase })
      #expect(ofPhase.map(\.completed) == Array(0...total))
    }
  }

  @Test func `a migration that was canceled can be continued later`() async throws {
    try fill(old)
    let storage = FaultyStorage(new)
    let gate = storage.suspend(.save)
    let migration = Migration(of: query, from: old, to: storage)
    let running = Task { try await migration.move() }
    await gate.waitForCall()
    running.cancel()
    await expectError(.canceled) { try await running.value }
    try expectAll(in: old)
    storage.reset()
    #expect(try await migration.move().count == Self.items.count)
    try expectAll(in: new)
  }

  // MARK: - Crashes

  /// The call that ends a run.
  ///
  /// The call itself is done or not. All later calls fail as well.
  private struct Crash {
    let call: Int
    let isDone: Bool
  }

  /// Runs a migration that ends as if the program was killed.
  ///
  /// - Returns: `true` if the migration was finished before the crash.
  private func run(_ old: InMemoryStorage, _ new: InMemoryStorage, _ crash: Crash) -> Bool {
    let storages = CrashingStorage.pair(old, new, callsBefore: crash.call, lastIsDone: crash.isDone)
    do {
      try Migration(of: query, from: storages.0, to: storages.1).move()
      return true
    } catch { return false }
  }

  @Test(arguments: [false, true])
  func `a migration goes on after a crash at any call`(isDone: Bool) throws {
    // One item of each kind is enough: the number of runs is the square of the number of calls.
    let items = Array(Self.items.suffix(3))
    var (call, isOver) = (0, false)
    while !isOver {
      let crash = Crash(call: call, isDone: isDone)
      // The next run crashes as well, at any call.
      var (nextCall, nextIsOver) = (0, false)
      while !nextIsOver {
        let (old, new) = (InMemoryStorage(), InMemoryStorage())
        try fill(old, with: items)
        isOver = run(old, new, crash)
        nextIsOver = run(old, new, Crash(call: nextCall, isDone: isDone))
        let comment: Comment = "crashes at calls \(call) and \(nextCall), done: \(isDone)"
        for item in items {
          #expect(try old.exists(item.key) || new.exists(item.key), comment)
        }
        try Migration(of: query, from: old, to: new).move()
        // A killed migration may have left the item behind with which it compares the storages.
        try new.removeItems(matching: .service("swift-keyring probe"))
        try expectAll(items, in: new, comment)
        try expectNone(in: old, comment)
        nextCall += 1
      }
      call += 1
    }
    #expect(call > items.count * 5, "it went through all calls")
  }
}

/// One of two storages that share a number of calls, after which all calls fail.
private struct CrashingStorage: BlockingStorage {
  private final class Calls: Sendable {
    let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }
  }

  private let base: InMemoryStorage
  private let calls: Calls
  private let lastIsDone: Bool

  static func pair(
    _ first: InMemoryStorage, _ second: InMemoryStorage, callsBefore count: Int, lastIsDone: Bool
  ) -> (CrashingStorage, CrashingStorage) {
    let calls = Calls(count)
    return (
      CrashingStorage(base: first, calls: calls, lastIsDone: lastIsDone),
      CrashingStorage(base: second, calls: calls, lastIsDone: lastIsDone)
    )
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try pass { () throws(SecureStorageError) in try base.save(item, mode: mode) }
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try pass { () throws(SecureStorageError) in try base.items(matching: query) }
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try pass { () throws(SecureStorageError) in try base.removeItems(matching: query) }
  }

  private func pass<Result>(
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    let left = calls.left.withLock { left in
      left -= 1
      return left
    }
    let crash = error(.connectionLost, during: .migrate)
    if left < -1 || (left == -1 && !lastIsDone) { throw crash }
    let result = try body()
    if left == -1 { throw crash }
    return result
  }
}
