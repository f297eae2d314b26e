// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import Testing

/// Tests of storages with given secrets, of the selection among several storages, and of diagnoses.
@Suite struct HeadlessTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `storages with given secrets are read-only`() throws {
    let files = CredentialsDirectoryStorage(
      service: "service", accessGroup: nil, directory: "/nonexistent")
    let error = #expect(throws: SecureStorageError.self) { try files.items(matching: .key(key)) }
    #expect(error?.code == .noStorage && files.diagnose(writing: false).failure?.code == .noStorage)
    let saving = #expect(throws: SecureStorageError.self) {
      try files.save(SecureItem(key: key, secret: Secret("new")), mode: .addOrReplace)
    }
    #expect(saving?.code == .readOnly)
    let variables = EnvironmentStorage(service: "service", prefix: "SWIFT_KEYRING_OUTSIDE_")
    #expect(try variables.items(matching: .key(key)).isEmpty)
    #expect(variables.diagnose(writing: true).failure?.code == .noStorage)
    let removing = #expect(throws: SecureStorageError.self) {
      try variables.removeItems(matching: .key(key))
    }
    #expect(removing?.code == .readOnly && variables as Any is any ReadOnlyStorage)
  }

  @Test func `the first storage that can be used is selected`() async throws {
    let storage = FirstAvailableStorage([
      CredentialsDirectoryStorage(service: "service", directory: "/nonexistent"), InMemoryStorage(),
    ])
    let selection: FirstAvailableStorage.Selection = try await storage.selection()
    #expect(selection.index == 1 && selection.storage is InMemoryStorage)
    #expect(selection.skipped.map(\.storage) == ["CredentialsDirectoryStorage"])
    #expect(selection.description == storage.backendName)
    try chooseAndUse(storage)
  }

  @Test func `the selection is remembered`() throws {
    #expect(
      SelectionMemory.program("org.example.app").path == nil && SelectionMemory.nowhere.path == nil)
    let directory = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let memory = SelectionMemory.file(at: directory.appending(path: "selection").path)
    #expect(memory.path == directory.path + "/selection")
    let storage = FirstAvailableStorage(
      [InMemoryStorage(), Vault()], remembering: memory,
      whenAnotherAppears: { _ in Issue.record("it was selected permanently") })
    try storage.select(1)
    let selection = try storage.selection()
    #expect(selection.remembered == "Vault" && selection.appeared.isEmpty)
    try storage.forgetSelection()
    #expect(try storage.selection().index == 0)
  }

  @Test func `tests don't reach the storage of the machine`() async throws {
    for prefersFile in [true, false] {
      let storage = FirstAvailableStorage.automatic(
        prefersFile: prefersFile, key: .typedPassphrase(), named: "app")
      let error = await #expect(throws: SecureStorageError.self) {
        try await storage.exists(.password(service: "service", account: "account"))
      }
      #expect(error?.code == .noStorage)
    }
  }

  @Test func `a program can ask for a secret at its terminal`() {
    // Calling the function would ask the developer.
    let ask: (String) throws(SecureStorageError) -> Secret = Secret.typed(atPrompt:)
    _ = ask
  }

  private func chooseAndUse(_ storage: FirstAvailableStorage) throws {
    #expect(try storage.selection().index == 1)
    #expect(storage.diagnose(writing: true).failure == nil)
    let observation = try storage.observe(nil) { _ in }
    try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add)
    #expect(try storage.items(matching: .key(key)).count == 1)
    #expect(try storage.items(for: [key], details: .all).count == 1)
    #expect(try storage.item(for: key, details: .secret)?.secret == Secret("s3cret"))
    #expect(try storage.secret(for: key) == Secret("s3cret"))
    #expect(try storage.removeItems(matching: .key(key)) == 1)
    observation.cancel()
  }

  /// A third-party storage with a diagnosis.
  private struct Vault: BlockingStorage {
    func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {}
    func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] { [] }
    func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int { 0 }

    func diagnose(writing: Bool) -> StorageDiagnosis {
      var diagnosis = StorageDiagnosis(of: backendName)
      diagnosis.add("address", "127.0.0.1")
      diagnosis.add("certificate", "Expires tomorrow.", recoverySuggestion: "Renew it.")
      diagnosis.add(InMemoryStorage().diagnose())
      if writing { diagnosis.probeWriting(in: self) }
      return diagnosis
    }
  }

  @Test func `a storage can make its own findings`() {
    let storage: any SecureStorage = Vault()
    let diagnosis = storage.diagnose()
    let states: [StorageDiagnosis.Finding.State] = diagnosis.findings.map(\.state)
    #expect(states == [.ok, .notice, .ok] && diagnosis.storage == "Vault")
    #expect(diagnosis.description.split(separator: "\n").count == 3)
    // This storage forgets its items.
    #expect(storage.diagnose(writing: true).failure?.code == .verificationFailed)
    let finding = StorageDiagnosis.Finding(
      storage: "Vault", subject: "address", state: .ok, text: "127.0.0.1", recoverySuggestion: nil)
    #expect(
      finding == diagnosis.findings[0] && finding.description == "ok: Vault, address: 127.0.0.1")
    #expect(
      finding.storage == "Vault" && finding.subject == "address"
        && finding.recoverySuggestion == nil)
    #expect(finding.text == "127.0.0.1")
    var failing = StorageDiagnosis(of: "Vault")
    failing.add("address", SecureStorageError(.locked, operation: .diagnose, backendName: "Vault"))
    #expect(failing != diagnosis && failing.failure?.code == .locked)
    #expect(failing.findings[0].state == .failure)
    #expect(StorageDiagnosis.Finding.State(rawValue: "failure") == .failure)
    #expect(StorageDiagnosis.Finding.State.allCases.map(\.rawValue) == ["ok", "notice", "failure"])
  }

  @Test func `a diagnosis can be awaited`() async throws {
    let storage: any SecureStorage = InMemoryStorage()
    #expect(try await storage.diagnose().failure == nil)
    #expect(try await storage.diagnose(writing: true).findings.count == 2)
  }

  @Test func `every storage of the package reads a single item`() throws {
    let memory = InMemoryStorage()
    let cache = CachedStorage(memory)
    try cache.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add)
    #expect(try cache.item(for: key, details: .secret)?.secret == Secret("s3cret"))
    #expect(try cache.secret(for: key) == Secret("s3cret"))
    #expect(try memory.item(for: key, details: .secret)?.secret == Secret("s3cret"))
    #expect(try memory.secret(for: key) == Secret("s3cret"))
    #if os(Linux)
    let options = SecretServiceStorage.Options(busAddress: "unix:path=/nonexistent")
    let storage = SecretServiceStorage(options: options)
    let error = #expect(throws: SecureStorageError.self) {
      try storage.item(for: key, details: .secret)
    }
    #expect(error?.code == .noSessionBus)
    #endif
  }

  @Test func `a LayeredStorage reads each item from the first layer that has it`() throws {
    let (given, own) = (InMemoryStorage(), InMemoryStorage())
    let storage = LayeredStorage([
      LayeredStorage.Layer.reading(given, isRequired: true),
      .writing(own, isRequired: false),
    ])
    let property = Password("account", service: "service", storage: storage)
    try given.setPassword("given", for: key)
    #expect(property.wrappedValue == "given")
    #expect(try property.projectedValue.origin() == "InMemoryStorage")
    #expect(try storage.origin(of: key) == "InMemoryStorage")
    #expect(storage.secretByteLimit == own.secretByteLimit)
    #expect(storage.diagnose(writing: true).failure == nil)
  }

  @Test func `a task can ask for the origin of an item`() async throws {
    let storage = InMemoryStorage()
    let property = Password("account", service: "service", storage: storage)
    #expect(try await property.projectedValue.origin() == nil)
    #expect(try await storage.origin(of: key) == nil)
  }

  @Test func `every storage of the package has a diagnosis`() {
    #expect(InMemoryStorage().diagnose(writing: true).findings.count == 2)
    #expect(InMemoryStorage().cached().diagnose(writing: true).findings.count == 2)
    #expect(AutoLockingStorage(InMemoryStorage()).diagnose(writing: true).findings.count == 1)
    #if os(Linux)
    let options = SecretServiceStorage.Options(busAddress: "unix:path=/nonexistent")
    let diagnosis = SecretServiceStorage(options: options).diagnose(writing: true)
    #expect(diagnosis.failure?.code == .noSessionBus)
    #endif
  }
}
