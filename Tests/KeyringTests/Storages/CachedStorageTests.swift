// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@Suite(.timeLimit(.minutes(1))) struct CachedStorageTests {
  private let base = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  @Test(.tags(.slow), arguments: StorageContract.allCases, [nil, Duration.milliseconds(1)])
  func `the cache keeps the contract`(rule: StorageContract, lifetime: Duration?) throws {
    try rule.verify(InMemoryStorage().cached(for: lifetime))
  }

  @Test func `the cache answers a second read`() throws {
    let (storage, faulty) = cached()
    try base.setPassword("s3cret", for: key)
    for _ in 0..<3 { #expect(try storage.password(for: key) == "s3cret") }
    #expect(faulty.count(of: .read) == 1)
    // The cache also keeps that there is no item.
    let absent = ItemKey.password(service: "service", account: "absent")
    for _ in 0..<3 { #expect(try storage.password(for: absent) == nil) }
    #expect(faulty.count(of: .read) == 2)
    // Items that were read one by one may be of different versions of the storage.
    for _ in 0..<3 {
      #expect(try Array(storage.items(for: [key, absent], details: .secret).keys) == [key])
    }
    #expect(try storage.exists(key))
    #expect(faulty.count(of: .read) == 3)
    // A read of more details also reads the details that were read before.
    _ = try storage.item(for: key, details: .metadata)
    #expect(try storage.item(for: key)?.secret == Secret("s3cret"))
    #expect(faulty.count(of: .read) == 4)
    storage.removeAll()
    #expect(try storage.password(for: key) == "s3cret")
    #expect(faulty.count(of: .read) == 5)
  }

  @Test func `searches and queries that may not unlock ask the storage`() throws {
    let (storage, faulty) = cached()
    for _ in 0..<2 { _ = try storage.items(matching: .service("service")) }
    for _ in 0..<2 { _ = try storage.items(matching: ItemQuery(key: key, allowsUnlocking: false)) }
    #expect(faulty.count(of: .read) == 4)
  }

  @Test func `every write is seen at once`() throws {
    let (storage, _) = cached()
    let copy = storage
    for number in 0..<10 {
      try (number % 2 == 0 ? base.setPassword : copy.setPassword)("\(number)", key, .addOrReplace)
      #expect(try storage.password(for: key) == "\(number)")
    }
    try base.remove(key)
    #expect(try storage.password(for: key) == nil)
    try copy.setPassword("again", for: key)
    #expect(try storage.password(for: key) == "again")
    try copy.removeItems(matching: .service("service"))
    #expect(try storage.password(for: key) == nil)
  }

  @Test func `errors are not kept`() throws {
    let (storage, faulty) = cached()
    faulty.fail(.read, with: .timedOut, onCall: 1)
    #expect(throws: SecureStorageError.self) { try storage.password(for: key) }
    #expect(try storage.password(for: key) == nil)
  }

  @Test func `a lock empties the cache`() throws {
    let (storage, faulty) = cached()
    try base.setPassword("s3cret", for: key)
    #expect(try storage.password(for: key) == "s3cret")
    try base.lock()
    expectError(.locked) { try storage.password(for: key) }
    try base.unlock()
    #expect(try storage.password(for: key) == "s3cret")
    #expect(faulty.count(of: .read) == 3)
  }

  @Test func `nothing is kept while the connection is interrupted`() throws {
    let base = ReportingStorage()
    let observers = base.observers
    let storage = base.cached()
    for _ in 0..<2 { _ = try storage.exists(key) }
    #expect(base.reads.withLock { $0 } == 1)
    observers.report(.interrupted)
    for _ in 0..<2 { _ = try storage.exists(key) }
    #expect(base.reads.withLock { $0 } == 3)
    observers.report(.resumed)
    for _ in 0..<2 { _ = try storage.exists(key) }
    #expect(base.reads.withLock { $0 } == 4)
    observers.report(.mayHaveChanged(.password(service: "service", account: "another")))
    _ = try storage.exists(key)
    #expect(base.reads.withLock { $0 } == 4)
    // An item of another program can be found under both keys.
    observers.report(.mayHaveChanged(.value(service: "service", account: "account")))
    _ = try storage.exists(key)
    #expect(base.reads.withLock { $0 } == 5)
  }

  @Test func `items of a storage that cannot be observed are not kept`() throws {
    let (storage, faulty) = cached()
    faulty.fail(.observe, with: .notObservable)
    for _ in 0..<3 { #expect(try storage.password(for: key) == nil) }
    #expect(faulty.count(of: .read) == 3)
  }

  /// The storage is lost while its observation begins, and then it comes back.
  @Test func `the cache makes up for a first observation that failed`() throws {
    let base = InterruptedStorage(code: .noProvider)
    let storage = base.cached()
    _ = try storage.password(for: key)
    base.isThere.withLock { $0 = true }
    let end = ContinuousClock.now + .seconds(20)
    var reads = 0
    repeat {
      reads = base.reads.withLock { $0 }
      _ = try storage.password(for: key)
    } while base.reads.withLock({ $0 }) > reads && ContinuousClock.now < end
    #expect(base.reads.withLock { $0 } == reads)
  }

  /// The observation has used up the time for the read.
  @Test func `nothing is read after the observation has timed out`() throws {
    let base = InterruptedStorage(code: .timedOut)
    let error = expectError(.timedOut) { try base.cached().password(for: key) }
    #expect(error?.operation == .read)
    #expect(base.reads.withLock { $0 } == 0)
  }

  @Test func `a layer that can't be observed keeps no read from the others`() throws {
    let memory = InMemoryStorage()
    try memory.setPassword("s3cret", for: key)
    let layers: [LayeredStorage.Layer] = [
      .reading(memory), .writing(InterruptedStorage(code: .timedOut)),
    ]
    #expect(try LayeredStorage(layers).cached().password(for: key) == "s3cret")
  }

  @Test func `nothing of a storage that isn't selected any more is kept`() throws {
    let (first, second) = (InMemoryStorage(), InMemoryStorage())
    try first.setPassword("first", for: key)
    try second.setPassword("second", for: key)
    let directory = TemporaryDirectory()
    let choice = FirstAvailableStorage(
      [first, second], remembering: .file(at: directory.path("selection")))
    let storage = choice.cached()
    #expect(try storage.password(for: key) == "first")
    try choice.select(1)
    #expect(try storage.password(for: key) == "second")
    try second.setPassword("new", for: key)
    #expect(try storage.password(for: key) == "new")
  }

  /// An observation that fails late may have used up the time, or the storage only can't be observed.
  @Test(arguments: [(SecureStorageError.Code.connectionLost, 0), (.notObservable, 1)])
  func `a read follows a late failure only if the storage may be there`(
    code: SecureStorageError.Code, reads: Int
  ) throws {
    let base = InterruptedStorage(code: code, failingAfter: .seconds(1.1))
    let isAnswered = (try? base.cached().exists(key)) != nil
    #expect(isAnswered == (reads == 1))
    #expect(base.reads.withLock { $0 } == reads)
  }

  /// The lifetime is that of the cache, or of a storage whose items may change without a report.
  @Test(arguments: [true, false])
  func `an item is read again after its lifetime`(isOfCache: Bool) throws {
    let base = ReportingStorage(cacheLifetime: isOfCache ? nil : .milliseconds(20))
    let storage = isOfCache ? base.cached(for: .milliseconds(20)) : base.cached()
    _ = try storage.exists(key)
    // The lifetime has begun before the read ended.
    let end = ContinuousClock.now + .milliseconds(20)
    while ContinuousClock.now < end {}
    _ = try storage.exists(key)
    #expect(base.reads.withLock { $0 } == 2)
  }

  @Test func `an item is not kept while programs are changing it`() throws {
    let base = ReportingStorage()
    let storage = base.cached()
    func readsOfTwo() throws -> Int {
      let before = base.reads.withLock { $0 }
      for _ in 0..<2 { _ = try storage.exists(key) }
      return base.reads.withLock { $0 } - before
    }
    #expect(try readsOfTwo() == 1)
    #expect(try readsOfTwo() == 0)
    let another = ItemKey.password(service: "service", account: "another")
    for changed in [another, key, key, nil] { base.observers.report(.changing(changed)) }
    for ended in [key, nil, another] {
      base.observers.report(.settled(ended))
      #expect(try readsOfTwo() == 2)
    }
    for _ in 0..<2 {
      base.observers.report(.settled(key))
      #expect(try readsOfTwo() == 1)
    }
  }

  @Test func `the lifetime is in the description`() throws {
    let base = ReportingStorage(cacheLifetime: .seconds(60))
    #expect("\(base.cached())" == "CachedStorage(ReportingStorage, for 60.0 seconds)")
    let chosen = base.cached(for: .seconds(5))
    #expect("\(chosen)" == "CachedStorage(ReportingStorage, for 5.0 seconds)")
    #expect("\(base.cached(for: nil))" == "CachedStorage(ReportingStorage)")
    #expect("\(InMemoryStorage().cached())" == "CachedStorage(InMemoryStorage)")
    let credentials = CredentialsDirectoryStorage(service: "service")
    let layers: [LayeredStorage.Layer] = [.reading(credentials), .writing(InMemoryStorage())]
    #expect(LayeredStorage(layers).cached().cacheLifetime == .seconds(60))
    #expect(LayeredStorage(Array(layers.dropFirst())).cached().cacheLifetime == nil)
  }

  /// The value is overwritten during the read, which then ends with the old value.
  @Test(arguments: [true, false])
  func `a read that a write overtakes is not kept`(ofThisCache: Bool) async throws {
    let (slow, storage, gate) = try await holdNextRead()
    async let late = storage.password(for: key)
    await gate.waitForCall()
    if ofThisCache {
      try await storage.setPassword("new", for: key)
    } else {
      try await slow.base.setPassword("new", for: key)
    }
    gate.open()
    #expect(try await late == "old")
    #expect(try await storage.password(for: key) == "new")
  }

  /// The report of the change hasn't arrived when both reads end.
  @Test func `a read that another one overtakes doesn't bring back the old value`() async throws {
    let (slow, storage, gate) = try await holdNextRead(reportsChanges: false)
    async let late = storage.password(for: key)
    await gate.waitForCall()
    try await slow.base.setPassword("new", for: key)
    #expect(try await storage.password(for: key) == "new")
    gate.open()
    #expect(try await late == "old")
    #expect(try await storage.password(for: key) == "new")
  }

  @Test func `reads of different details at the same time are kept`() async throws {
    let (slow, storage, gate) = try await holdNextRead()
    async let late = storage.item(for: key, details: .metadata)
    await gate.waitForCall()
    #expect(try await storage.password(for: key) == "old")
    gate.open()
    #expect(try await late?.key == key)
    let reads = slow.reads.withLock { $0 }
    #expect(try await storage.password(for: key) == "old")
    #expect(slow.reads.withLock { $0 } == reads)
  }

  @Test func `a read after a change in the stream finds the new value`() async throws {
    let storage = base.cached()
    try await storage.setPassword("0", for: key)
    var changes = try await storage.changes(matching: .key(key)).makeAsyncIterator()
    for number in 1...100 {
      _ = try await storage.password(for: key)
      try await base.setPassword("\(number)", for: key)
      #expect(await changes.next() == .replaced(key))
      #expect(try await storage.password(for: key) == "\(number)")
    }
  }

  /// Returns a cached storage with an old value, whose next read waits at a gate.
  private func holdNextRead(
    reportsChanges: Bool = true
  ) async throws -> (SlowStorage, CachedStorage<SlowStorage>, CallGate) {
    let slow = SlowStorage(reportsChanges: reportsChanges)
    let storage = slow.cached()
    try await slow.base.setPassword("old", for: key)
    // This read starts the observation.
    #expect(try await storage.password(for: .password(service: "other", account: "none")) == nil)
    return (slow, storage, slow.holdNextRead())
  }

  private func cached() -> (CachedStorage<FaultyStorage>, FaultyStorage) {
    let faulty = FaultyStorage(base)
    return (faulty.cached(), faulty)
  }
}

/// A storage whose reads take the items that exist when they begin, and may end much later.
private final class SlowStorage: BlockingStorage, ForwardingStorage, ObservableStorage {
  let reads = Mutex(0)
  let base = InMemoryStorage()
  private let reportsChanges: Bool
  private let faulty = FaultyStorage()
  private let isHeld = Atomic(false)

  init(reportsChanges: Bool = true) { self.reportsChanges = reportsChanges }

  func holdNextRead() -> CallGate {
    isHeld.store(true, ordering: .relaxed)
    return faulty.suspend(.read)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    reads.withLock { $0 += 1 }
    let items = try base.items(matching: query)
    if isHeld.exchange(false, ordering: .relaxed) { _ = try faulty.items(matching: query) }
    return items
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    reportsChanges ? base.observe(query, observer) : StorageSubscription {}
  }
}

/// A storage that is lost while each observation begins, until a test brings it back.
private final class InterruptedStorage: BlockingStorage, EmptyStorage, ObservableStorage {
  let isThere = Mutex(false)
  let reads = Mutex(0)
  private let code: SecureStorageError.Code
  private let observers = ObserverList()

  private let time: Duration

  init(code: SecureStorageError.Code, failingAfter time: Duration = .zero) {
    (self.code, self.time) = (code, time)
  }

  func items(matching query: ItemQuery) -> [SecureItem] {
    reads.withLock { $0 += 1 }
    return []
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    if isThere.withLock({ $0 }) { return observers.add(observer) }
    observer(.interrupted)
    // The storage is busy all that time.
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {}
    throw SecureStorageError(code, operation: .observe, backendName: backendName)
  }
}
