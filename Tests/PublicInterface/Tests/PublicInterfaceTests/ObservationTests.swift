// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

/// Tests of changes, and of values that are cached until a change.
@Suite(.timeLimit(.minutes(1))) struct ObservationTests {
  private struct Settings {
    @Password("authToken", service: "app") var authToken: String?
  }

  private let key = ItemKey.password(service: "app", account: "authToken")

  @Test func `a stream has the changes of all items or of one`() async throws {
    let storage: any ObservableStorage = InMemoryStorage()
    var all: ItemChanges.Iterator = try await storage.changes().makeAsyncIterator()
    let ofKey = try await storage.changes(matching: .key(key))
    try await storage.setPassword("s3cret", for: key)
    let change = try #require(await all.next())
    #expect(change == .created(key))
    #expect(change.key == key)
    #expect(change.description == "created \(key)")
    #expect(key.customMirror.children.isEmpty)
    var rest = ofKey.makeAsyncIterator()
    #expect(await rest.next(isolation: nil) == .created(key))
    try await storage.setPassword("another", for: key)
    #expect(await all.next() == .replaced(key))
    try await storage.remove(key)
    #expect(await all.next() == .removed(key))
    #expect(ItemChanges.Failure.self == Never.self)
  }

  @Test func `properties have streams of their changes`() async throws {
    let settings = Settings()
    let storage = InMemoryStorage()
    let ofOne = try await withSecureStorage(storage) { try await settings.$authToken.changes }
    let ofAll = try await withSecureStorage(storage) {
      try await SecureProperties(of: settings).changes
    }
    try await storage.setPassword("s3cret", for: key)
    #expect(await ofOne.first { _ in true } == .created(key))
    #expect(await ofAll.first { _ in true } == .created(key))
  }

  @Test func `a cache has the capabilities of its storage`() throws {
    func keep(_ storage: some CollectionStorage & ObservableStorage) throws {
      let cache = storage.cached(for: .seconds(60))
      let observation = try cache.observe(nil) { _ in }
      try cache.setPassword("s3cret", for: key)
      #expect(try cache.password(for: key) == "s3cret")
      #expect(try cache.items(for: [key], details: .all).count == 1)
      #expect(try cache.removeItems(matching: .key(key)) == 1)
      try cache.lock()
      #expect(try cache.isLocked())
      try cache.unlock()
      let work = try cache.createCollection(labeled: "work")
      #expect(try !work.isSharedCollection())
      #expect(try cache.collection(labeled: "work").items(matching: ItemQuery()).isEmpty)
      #expect(try cache.collections().count == 2)
      #expect(try cache.deleteCollection(labeled: "work"))
      cache.removeAll()
      observation.cancel()
    }
    try keep(InMemoryStorage())
    let limited = InMemoryStorage().cached(for: .seconds(5))
    #expect(limited.cacheLifetime == .seconds(5))
    #expect(InMemoryStorage().cached().cacheLifetime == nil)
    #expect(ObservedStorage(observers: ObserverList()).cacheLifetime == nil)
    #expect(FaultyStorage().cacheLifetime == nil)
    #expect(FirstAvailableStorage([InMemoryStorage()]).cacheLifetime == .seconds(60))
    #expect(LayeredStorage([.writing(FaultyStorage())]).cacheLifetime == nil)
    #expect(SecretServiceStorage().cacheLifetime == .seconds(60))
    let cache = CachedStorage(InMemoryStorage(), for: nil)
    #expect(cache.backendName == "InMemoryStorage")
    #expect(cache.description == "CachedStorage(InMemoryStorage)")
    #expect(cache.customMirror.children.isEmpty)
  }

  @Test func `a third-party storage can report its changes`() throws {
    let observers = ObserverList()
    let storage = ObservedStorage(observers: observers)
    let events = Mutex<[StorageEvent]>([])
    let observation = try storage.observe(.key(key)) { event in
      events.withLock { $0.append(event) }
    }
    #expect(!observers.isEmpty)
    let all: [StorageEvent] = [
      .changed(.created(key)), .mayHaveChanged(key), .mayHaveChanged(nil), .changing(key),
      .settled(key), .locked, .interrupted, .resumed,
    ]
    for event in all.dropLast() { observers.report(event) }
    observers.collect(.resumed)
    #expect(events.withLock { $0 } == all.dropLast())
    observers.deliver()
    #expect(events.withLock { $0 } == all)
    observation.cancel()
    #expect(observers.isEmpty)
    let ended = Mutex(false)
    StorageSubscription { ended.withLock { $0 = true } }.cancel()
    #expect(ended.withLock { $0 })
  }

  @Test func `events and changes are hashable, and errors name the operation`() throws {
    let error = SecureStorageError(.notObservable, operation: .observe, backendName: "MyStorage")
    #expect(error.operation.description == "observe")
    InMemoryStorage().observe(nil) { _ in }.cancel()
    #expect(Set<StorageEvent>([.locked, .locked]).count == 1)
    #expect(Set<ItemChange>([.removed(key), .removed(key)]).count == 1)
  }
}

/// A third-party storage that reports its changes.
private struct ObservedStorage: BlockingStorage, ObservableStorage {
  let observers: ObserverList
  private let base = InMemoryStorage()

  init(observers: ObserverList) { self.observers = observers }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    observers.add(observer)
  }
}
