import KeyringStorage
import Testing

@Suite struct AutoLockingStorageTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func isLockedBetweenUses() throws {
    let vault = try InMemoryStorage().createCollection(labeled: "vault")
    let confirming = AutoLockingStorage(vault)
    // Nobody is there to confirm: what is locked stays so.
    let error = #expect(throws: SecureStorageError.self) {
      try confirming.setPassword("s3cret", for: key)
    }
    #expect(error?.code == .locked)
    #expect(try vault.isLocked())
  }

  @Test func defaultCollectionIsRefused() throws {
    let storage = InMemoryStorage()
    let error = #expect(throws: SecureStorageError.self) {
      try AutoLockingStorage(storage).password(for: key)
    }
    #expect(error?.code == .invalidArgument && error?.argument == "collection")
    #expect(try !storage.isLocked())
  }

  @Test func isLockedAgainWhenTheTaskIsCancelledMeanwhile() async throws {
    let vault = try await InMemoryStorage().createCollection(labeled: "vault")
    let confirming = AutoLockingStorage(CancelledWhileOpen(base: vault))
    let task = Task { [key] in try await confirming.password(for: key) }
    let error = await #expect(throws: SecureStorageError.self) { try await task.value }
    #expect(error?.code == .canceled)
    #expect(try await vault.isLocked())
  }
}

/// A collection whose user unlocks it, and whose caller gives up in the same moment.
private struct CancelledWhileOpen: BlockingStorage, CollectionStorage {
  let base: InMemoryStorage

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.unlock()
    CancellationSignal.current?.cancel()
    return try base.items(matching: query)
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try base.save(item, mode: mode)
  }
  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }
  func lock() throws(SecureStorageError) { try base.lock() }
  func unlock() throws(SecureStorageError) { try base.unlock() }
  func isLocked() throws(SecureStorageError) -> Bool { try base.isLocked() }
  func collections() -> [ItemCollection] { base.collections() }
  func collection(labeled label: String) -> Self { Self(base: base.collection(labeled: label)) }
  func createCollection(labeled label: String) throws(SecureStorageError) -> Self {
    Self(base: try base.createCollection(labeled: label))
  }
  func deleteCollection(labeled label: String) -> Bool { base.deleteCollection(labeled: label) }
  func isSharedCollection() -> Bool { base.isSharedCollection() }
}
