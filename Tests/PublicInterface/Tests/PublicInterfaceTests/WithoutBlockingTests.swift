// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import KeyringTesting
import Testing

/// Tests of the two forms of a storage's operations, and of the three ways to write a storage.
@Suite struct WithoutBlockingTests {
  private let key = ItemKey.password(service: "service", account: "account")
  private var item: SecureItem { SecureItem(key: key, secret: Secret("s3cret")) }

  // MARK: Ways to write a storage

  @Test(arguments: StorageContract.cases(for: RemoteStorage.self))
  func `an asynchronous storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(RemoteStorage())
  }

  @Test(arguments: StorageContract.cases(for: QuickStorage.self))
  func `an immediate storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(QuickStorage())
  }

  @Test func `an asynchronous storage has both forms of its operations`() async throws {
    let storage = RemoteStorage()
    try inTurn(storage)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).isEmpty)
    try await atOnce(storage)
  }

  /// Runs the blocking operations, each of which runs the asynchronous one.
  private func inTurn(_ storage: RemoteStorage) throws {
    try storage.save(item, mode: .add)
    #expect(try storage.items(matching: .key(key)).count == 1)
    #expect(try storage.item(for: key, details: .secret)?.secret == item.secret)
    #expect(try storage.items(for: [key], details: .secret)[key]?.secret == item.secret)
    #expect(try storage.removeItems(matching: .key(key)) == 1)
  }

  private func atOnce(_ storage: some SecureStorage) async throws {
    try await storage.save(item, mode: .add)
    #expect(try await storage.items(matching: .key(key)).count == 1)
    #expect(try await storage.items(for: [key], details: .secret).count == 1)
    #expect(try await storage.removeItems(matching: .key(key)) == 1)
  }

  @Test func `an immediate storage can be awaited and canceled`() async throws {
    let storage = QuickStorage()
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .key(key)).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    for operation in [SecureStorageError.Operation.read, .observe] {
      let canceled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        if operation == .observe {
          _ = try await storage.observeWithoutBlocking(nil) { _ in }
        } else {
          _ = try await storage.itemsWithoutBlocking(matching: .key(key))
        }
      }
      let error = await #expect(throws: SecureStorageError.self) { try await canceled.value }
      #expect(error?.code == .canceled)
      #expect(error?.operation == operation)
    }
  }

  @MainActor @Test
  func `an await on a storage that never waits stays on its thread`() async throws {
    // This is the only possible check. It ends the process if it fails.
    let storage = QuickStorage(whenRead: { MainActor.preconditionIsolated() })
    _ = try await storage.items(matching: .key(key))
    _ = try await storage.password(for: key)
    _ = try await storage.service("service").accounts()
  }

  @Test func `a blocking storage has asynchronous operations`() async throws {
    let storage = ForwardingStorage(base: InMemoryStorage())
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .key(key)).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
    #expect(try await storage.diagnoseWithoutBlocking(writing: true).failure == nil)
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    try await storage.lockWithoutBlocking()
    #expect(try await storage.isLockedWithoutBlocking())
    try await storage.unlockWithoutBlocking()
    _ = try await storage.createCollectionWithoutBlocking(labeled: "work")
    #expect(try await storage.collectionsWithoutBlocking().map(\.label).contains("work"))
    #expect(try await storage.deleteCollectionWithoutBlocking(labeled: "work"))
    #expect(try await storage.isSharedCollectionWithoutBlocking())
  }

  /// They use the library's threads, as many as are needed.
  @Test func `blocked calls do not use the threads of the cooperative pool`() async throws {
    let gates = Gates()
    let storage = HeldStorage(gates: gates)
    let reads = (0..<32).map { _ in Task { try await storage.password(for: key) } }
    // All calls are in the storage at the same time, even with few processors.
    await gates.waitForCalls(32)
    gates.open()
    for read in reads { #expect(try await read.value == nil) }
  }

  @Test func `a cancellation reaches a blocking storage`() async throws {
    let gates = Gates()
    let storage = HeldStorage(gates: gates)
    let read = Task { try await storage.password(for: key) }
    await gates.waitForCalls(1)
    read.cancel()
    let error = await #expect(throws: SecureStorageError.self) { try await read.value }
    #expect(error?.code == .canceled)
    #expect(CancellationSignal.$current.get() == nil)
  }

  // MARK: The library's storages

  @Test func `a FaultyStorage has asynchronous operations`() async throws {
    let storage = FaultyStorage()
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .key(key)).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
  }

  @Test func `a CachedStorage has asynchronous operations`() async throws {
    let storage = InMemoryStorage().cached()
    #expect(storage.secretByteLimit == InMemoryStorage().secretByteLimit)
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .key(key)).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    #expect(try await storage.diagnoseWithoutBlocking(writing: false).failure == nil)
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
  }

  @Test func `a FirstAvailableStorage has asynchronous operations`() async throws {
    let place = NSTemporaryDirectory() + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: place) }
    let storage = FirstAvailableStorage([InMemoryStorage()], remembering: .file(at: place))
    #expect(storage.secretByteLimit == InMemoryStorage().secretByteLimit)
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .key(key)).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    #expect(try await storage.diagnoseWithoutBlocking(writing: false).failure == nil)
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
  }

  @Test func `a LayeredStorage has asynchronous operations`() async throws {
    let storage = LayeredStorage([
      .reading(InMemoryStorage(), isRequired: true),
      .writing(InMemoryStorage(), isRequired: false),
    ])
    try await storage.saveWithoutBlocking(item, mode: .add)
    #expect(try await storage.itemsWithoutBlocking(matching: .service("service")).count == 1)
    #expect(try await storage.itemsWithoutBlocking(for: [key], details: .secret).count == 1)
    #expect(try await storage.originWithoutBlocking(of: key) == "InMemoryStorage")
    _ = try await storage.observeWithoutBlocking(nil) { _ in }
    #expect(try await storage.diagnoseWithoutBlocking(writing: false).failure == nil)
    #expect(try await storage.removeItemsWithoutBlocking(matching: .key(key)) == 1)
  }

  @Test func `every storage of the package knows the origin of an item`() async throws {
    let base = InMemoryStorage()
    try await base.setPassword("s3cret", for: key)
    let place = NSTemporaryDirectory() + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: place) }
    let storage = FirstAvailableStorage([base], remembering: .file(at: place))
    #expect(try await storage.originWithoutBlocking(of: key) == "InMemoryStorage")
    #expect(try await base.cached().originWithoutBlocking(of: key) == "InMemoryStorage")
    #expect(try await FaultyStorage(base).originWithoutBlocking(of: key) == "InMemoryStorage")
    #expect(try await base.originWithoutBlocking(of: key) == "InMemoryStorage")
    let locking = AutoLockingStorage(try await base.createCollection(labeled: "vault"))
    let error = await #expect(throws: SecureStorageError.self) {
      try await locking.originWithoutBlocking(of: key)
    }
    #expect(error?.code == .locked)
  }

  @Test func `an AutoLockingStorage has asynchronous operations`() async throws {
    let collection = try await InMemoryStorage().createCollection(labeled: "vault")
    let storage = AutoLockingStorage(collection, timeout: .seconds(10))
    #expect(storage.secretByteLimit == collection.secretByteLimit)
    let (key, item) = (key, item)
    // The storage stays locked.
    for body: () async throws -> Void in [
      { try await storage.saveWithoutBlocking(item, mode: .add) },
      { _ = try await storage.itemsWithoutBlocking(matching: .service("service")) },
      { _ = try await storage.itemsWithoutBlocking(for: [key], details: .secret) },
      { _ = try await storage.removeItemsWithoutBlocking(matching: .key(key)) },
    ] {
      let error = await #expect(throws: SecureStorageError.self) { try await body() }
      #expect(error?.code == .locked)
    }
    #expect(try await collection.isLocked())
  }

  #if os(Linux)
  /// No bus is at the address.
  @Test func `every operation of SecretServiceStorage without a bus is an error`() async throws {
    let storage = SecretServiceStorage(
      options: SecretServiceStorage.Options(busAddress: "unix:path=/nonexistent"))
    let (key, item) = (key, item)
    for body: () async throws -> Void in [
      { try await storage.saveWithoutBlocking(item, mode: .add) },
      { _ = try await storage.itemsWithoutBlocking(matching: .key(key)) },
      { _ = try await storage.itemsWithoutBlocking(for: [key], details: .all) },
      { _ = try await storage.removeItemsWithoutBlocking(matching: .key(key)) },
      { try await storage.lockWithoutBlocking() },
      { try await storage.unlockWithoutBlocking() },
      { try await storage.waitUntilWritten() },
      { _ = try await storage.isLockedWithoutBlocking() },
      { _ = try await storage.collectionsWithoutBlocking() },
      { _ = try await storage.createCollectionWithoutBlocking(labeled: "work") },
      { _ = try await storage.deleteCollectionWithoutBlocking(labeled: "work") },
      { _ = try await storage.observeWithoutBlocking(nil) { _ in } },
    ] {
      let error = await #expect(throws: SecureStorageError.self) { try await body() }
      #expect(error?.code == .noSessionBus)
    }
    #expect(try await storage.isSharedCollectionWithoutBlocking())
    let diagnosis = try await storage.diagnoseWithoutBlocking(writing: false)
    #expect(diagnosis.failure?.code == .noSessionBus)
  }
  #endif
}

/// A storage that is written with `async` and `await`.
private struct RemoteStorage: AsynchronousStorage, ObservableStorage {
  let durability = StorageDurability.temporary
  private let server = InMemoryStorage()

  func saveWithoutBlocking(_ item: SecureItem, mode: SaveMode) async throws(SecureStorageError) {
    await Task.yield()
    try await server.save(item, mode: mode)
  }

  func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    await Task.yield()
    return try await server.items(matching: query)
  }

  func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    await Task.yield()
    return try await server.removeItems(matching: query)
  }

  func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    await Task.yield()
    return try await server.observeWithoutBlocking(query, observer)
  }
}

/// A storage that never waits.
private struct QuickStorage: ImmediateStorage, ObservableStorage {
  let durability = StorageDurability.temporary
  private let base = InMemoryStorage()
  var whenRead: @Sendable () -> Void = {}

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    whenRead()
    return try base.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    base.observe(query, observer)
  }
}

/// A storage that blocks in each read until it's released or the call is cancelled.
private struct HeldStorage: BlockingStorage {
  let gates: Gates

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {}

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    gates.pass()
    if CancellationSignal.current?.isCancelled == true {
      throw error(.canceled, during: .read)
    }
    return []
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int { 0 }
}

/// Gates at which threads wait until they're opened.
private final class Gates: Sendable {
  private let end = DispatchSemaphore(value: 0)
  private let (calls, arrival) = AsyncStream<Void>.makeStream()

  func pass() {
    arrival.yield()
    guard let signal = CancellationSignal.current else { return end.wait() }
    signal.onCancel({ [end] in end.signal() }, while: { end.wait() })
    end.signal()
  }

  func waitForCalls(_ count: Int) async {
    var left = count
    for await _ in calls {
      left -= 1
      if left == 0 { return }
    }
  }

  func open() { end.signal() }
}
