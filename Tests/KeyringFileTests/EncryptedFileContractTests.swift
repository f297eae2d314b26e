#if EncryptedFile
import KeyringFile
import KeyringStorage
import KeyringTesting
import Testing

@Suite struct EncryptedFileContractTests {
  static let rules = StorageContract.cases(for: EncryptedFileStorage.self)

  @Test(arguments: rules) func contract(rule: StorageContract) throws {
    let folder = try TemporaryDirectory()
    try rule.verify(folder.storage())
  }

  /// Nothing of a case may depend on what one storage remembers of its own writes.
  @Test(arguments: rules) func contractOverTwoStorages(rule: StorageContract) throws {
    let folder = try TemporaryDirectory()
    try rule.verify(AlternatingStorage(folder.storage(), folder.storage()))
    #expect(try folder.names().isSubset(of: ["secrets", "secrets.lock", "key"]))
  }
}

/// Each operation goes to one of two storages, any of them.
private struct AlternatingStorage: BlockingStorage, ObservableStorage {
  let storages: [EncryptedFileStorage]
  let backendName = "EncryptedFileStorage"

  init(_ storages: EncryptedFileStorage...) { self.storages = storages }

  private var next: EncryptedFileStorage { storages[Int.random(in: 0..<storages.count)] }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try next.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try next.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try next.removeItems(matching: query)
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try storages[0].observe(query, observer)
  }
}
#endif
