// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import Keyring
import KeyringFile
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@Suite(.tags(.threads)) struct EncryptedFileContractTests {
  static let rules = StorageContract.cases(for: EncryptedFileStorage.self)

  // The test of two storages is enough with a sanitizer.
  @Test(.tags(.unsanitized), arguments: rules)
  func `the storage keeps the contract`(rule: StorageContract) throws {
    let directory = TemporaryDirectory()
    try rule.verify(directory.storage(), restart: { _ in directory.storage() })
  }

  /// No case may depend on a storage that remembers its own writes.
  @Test(arguments: rules)
  func `two storages of one file keep the contract`(rule: StorageContract) throws {
    let directory = TemporaryDirectory()
    let storage: @Sendable () -> AlternatingStorage = {
      AlternatingStorage(directory.storage(), directory.storage())
    }
    try rule.verify(storage(), restart: { _ in storage() })
    #expect(
      try directory.names().isSubset(of: ["secrets", "secrets.lock", "secrets.turns", "key"]))
  }

  @Test(arguments: rules.filter { $0.requirement == .restart })
  func `storages over a file are as durable as the file`(rule: StorageContract) throws {
    let directory = TemporaryDirectory()
    let storages: [@Sendable () -> any SecureStorage] = [
      { directory.storage().cached() },
      { LayeredStorage([.reading(InMemoryStorage()), .writing(directory.storage())]) },
      {
        FirstAvailableStorage(
          [directory.storage(), directory.storage("other")],
          remembering: .file(at: directory.path("selection")))
      },
      { FaultyStorage(directory.storage()) },
    ]
    for storage in storages { try rule.verify(storage(), restart: { _ in storage() }) }
  }
}

/// A storage that passes each operation to one of several storages at random.
private struct AlternatingStorage: BlockingStorage, ForwardingStorage, ObservableStorage {
  let storages: [EncryptedFileStorage]
  let backendName = "EncryptedFileStorage"

  init(_ storages: EncryptedFileStorage...) { self.storages = storages }

  var base: EncryptedFileStorage { storages[Int.random(in: 0..<storages.count)] }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    try storages[0].observe(query, observer)
  }

  nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    try await base.takeTurnWithoutBlocking(for: key, details: details, timeout: timeout)
  }
}
#endif
