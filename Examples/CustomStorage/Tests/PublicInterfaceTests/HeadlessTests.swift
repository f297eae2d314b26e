import Foundation
import Keyring
import Testing

/// Storages of what a program was given, the choice among several, and what each says of itself.
@Suite struct HeadlessTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func storagesOfWhatWasGiven() throws {
    let files = CredentialsDirectoryStorage(
      service: "service", accessGroup: nil, directory: "/nonexistent")
    let error = #expect(throws: SecureStorageError.self) { try files.items(matching: .key(key)) }
    #expect(error?.code == .noStorage && files.diagnose(writing: false).failure?.code == .noStorage)
    let saving = #expect(throws: SecureStorageError.self) {
      try files.save(SecureItem(key: key, secret: Secret("new")), .addOrReplace)
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

  @Test func theFirstThatCanBeUsed() async throws {
    let storage = FirstAvailable([
      CredentialsDirectoryStorage(service: "service", directory: "/nonexistent"), InMemoryStorage(),
    ])
    let choice: FirstAvailable.Choice = try await storage.choice()
    #expect(choice.index == 1 && choice.storage is InMemoryStorage)
    #expect(choice.passedOver.map(\.storage) == ["CredentialsDirectoryStorage"])
    #expect(choice.description == storage.backendName)
    try chooseAndUse(storage)
  }

  @Test func theChoiceIsRemembered() throws {
    #expect(ChoiceMemory.program("org.example.app").path == nil && ChoiceMemory.nowhere.path == nil)
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let memory = ChoiceMemory.file(at: folder.appending(path: "choice").path)
    #expect(memory.path == folder.path + "/choice")
    let storage = FirstAvailable(
      [InMemoryStorage(), Vault()], remembering: memory,
      whenAnotherAppears: { _ in Issue.record("it was chosen for good") })
    try storage.choose(1)
    let choice = try storage.choice()
    #expect(choice.remembered == "Vault" && choice.appeared.isEmpty)
    try storage.forgetChoice()
    #expect(try storage.choice().index == 0)
  }

  private func chooseAndUse(_ storage: FirstAvailable) throws {
    #expect(try storage.choice().index == 1)
    #expect(storage.diagnose(writing: true).failure == nil)
    let observation = try storage.observe(nil) { _ in }
    try storage.save(SecureItem(key: key, secret: Secret("s3cret")), .add)
    #expect(try storage.items(matching: .key(key)).count == 1)
    #expect(try storage.items(for: [key], details: .all).count == 1)
    #expect(try storage.item(for: key, details: .secret)?.secret == Secret("s3cret"))
    #expect(try storage.secret(for: key) == Secret("s3cret"))
    #expect(try storage.removeItems(matching: .key(key)) == 1)
    observation.cancel()
  }

  /// A storage of another maker, and what it says of itself.
  private struct Vault: BlockingStorage {
    func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {}
    func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] { [] }
    func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int { 0 }

    func diagnose(writing: Bool) -> StorageDiagnosis {
      var diagnosis = StorageDiagnosis(of: backendName)
      diagnosis.add("address", "127.0.0.1")
      diagnosis.add("certificate", "Expires tomorrow.", advice: "Renew it.")
      diagnosis.add(InMemoryStorage().diagnose())
      if writing { diagnosis.probeWriting(in: self) }
      return diagnosis
    }
  }

  @Test func findings() {
    let storage: any SecureStorage = Vault()
    let diagnosis = storage.diagnose()
    let states: [StorageDiagnosis.Finding.State] = diagnosis.findings.map(\.state)
    #expect(states == [.ok, .notice, .ok] && diagnosis.storage == "Vault")
    #expect(diagnosis.description.split(separator: "\n").count == 3)
    // It forgets what it is given.
    #expect(storage.diagnose(writing: true).failure?.code == .verificationFailed)
    let finding = StorageDiagnosis.Finding(
      storage: "Vault", subject: "address", state: .ok, text: "127.0.0.1", advice: nil)
    #expect(
      finding == diagnosis.findings[0] && finding.description == "ok: Vault, address: 127.0.0.1")
    #expect(finding.storage == "Vault" && finding.subject == "address" && finding.advice == nil)
    #expect(finding.text == "127.0.0.1")
    var failing = StorageDiagnosis(of: "Vault")
    failing.add("address", SecureStorageError(.locked, operation: .diagnose, backend: "Vault"))
    #expect(failing != diagnosis && failing.failure?.code == .locked)
    #expect(failing.findings[0].state == .failure)
    #expect(StorageDiagnosis.Finding.State(rawValue: "failure") == .failure)
    #expect(StorageDiagnosis.Finding.State.allCases.map(\.rawValue) == ["ok", "notice", "failure"])
  }

  @Test func findingsWithAwait() async throws {
    let storage: any SecureStorage = InMemoryStorage()
    #expect(try await storage.diagnose().failure == nil)
    #expect(try await storage.diagnose(writing: true).findings.count == 2)
  }

  @Test func oneItemOfEachStorageOfThePackage() throws {
    let memory = InMemoryStorage()
    let cache = CachedStorage(memory)
    try cache.save(SecureItem(key: key, secret: Secret("s3cret")), .add)
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

  @Test func findingsOfStoragesOfThePackage() {
    #expect(InMemoryStorage().diagnose(writing: true).findings.count == 2)
    #expect(InMemoryStorage().cached().diagnose(writing: true).findings.count == 2)
    #expect(ConfirmingStorage(InMemoryStorage()).diagnose(writing: true).findings.count == 1)
    #if os(Linux)
    let options = SecretServiceStorage.Options(busAddress: "unix:path=/nonexistent")
    let diagnosis = SecretServiceStorage(options: options).diagnose(writing: true)
    #expect(diagnosis.failure?.code == .noSessionBus)
    #endif
  }
}
