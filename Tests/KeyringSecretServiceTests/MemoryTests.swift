// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringMigration
import KeyringStorage
import Testing

/// A search for a secret in the memory of a process that stored, read, changed and removed it.
///
/// Nothing may be left except what the caller still holds. Each test has a process of its own, so
/// nothing else happens in it.
///
/// With a sanitizer, a process has terabytes of memory, which would take too long to search.
@Suite(.tags(.unsanitized)) struct MemoryTests {
  init() {
    // These processes resolve all functions when they start. Otherwise, the dynamic linker does so
    // at the first call. It saves the vector registers on the stack then, with what memcpy has just
    // moved.
    setenv("LD_BIND_NOW", "1", 1)
  }

  @Test(.tags(.slow), .withoutKeyring)
  func `a storage in memory leaves no stray copies of a secret`() async {
    await #expect(processExitsWith: .success) {
      try await MemoryTrial(of: InMemoryStorage(), copiesKept: 1).everyWay()
    }
  }

  /// A cache shares the secret of the wrapped storage, and doesn't copy it.
  @Test(.tags(.slow), .withoutKeyring) func `a cache leaves no stray copies of a secret`() async {
    await #expect(processExitsWith: .success) {
      try await MemoryTrial(of: InMemoryStorage().cached(), copiesKept: 1).everyWay()
    }
  }

  #if EncryptedFile
  @Test(.withoutKeyring) func `an encrypted file leaves no stray copies of a secret`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let storage = EncryptedFileStorage(
        at: directory.path("secrets"), key: .keyFile(at: directory.path("key")))
      try await MemoryTrial(of: storage, copiesKept: 1, sharesCopies: false).everyWay()
    }
  }
  #endif

  @Test(.tags(.slow), .inPrivateSession) func `the keyring leaves no stray copies of a secret`()
    async
  {
    await #expect(processExitsWith: .success) {
      let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
      try await MemoryTrial(of: storage, copiesKept: 0).everyWay()
    }
  }

  @Test(
    .tags(.slow), .inPrivateSession, .only(on: .gnomeKeyring, "other keyrings have no text files"))
  func `a secret that a text file would change leaves no stray copies`() async {
    await #expect(processExitsWith: .success) {
      // The files of the keyring can't be seen.
      for name in ["HOME", "XDG_DATA_HOME"] { setenv(name, "/nonexistent", 1) }
      let storage = SecretServiceStorage()
      try await MemoryTrial(of: storage, copiesKept: 0, beginning: " ").everyWay()
    }
  }

  // libsecret wipes only memory that it could lock.
  @Test(.tags(.slow), .inPrivateSession)
  func `no stray copies of a secret are left if memory cannot be locked`() async {
    await #expect(processExitsWith: .success) {
      try LockedMemory.forbid()
      let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
      try await MemoryTrial(of: storage, copiesKept: 0).everyWay()
    }
  }

  /// The password is typed at the terminal, and given by the program.
  @Test(.inPrivateSession, .only(on: .gnomeKeyring, "other keyrings take no password"))
  func `the password of a collection leaves no stray copies`() async {
    await #expect(processExitsWith: .success) {
      let terminal = try OwnTerminal()
      // The first run checks nothing, as in the other trials.
      for run in 1...2 {
        let label = PrivateSession.newService()
        let storage = SecretServiceStorage(collection: .named(label), interaction: .terminal)
        let canary = Canary()
        var typed: Secret? = try terminal.answering("Secret: ", with: canary) {
          try Secret.typed(atPrompt: "Secret: ")
        }
        let places = try canary.places()
        #expect(run == 1 || places.count == 1, "held: found \(places.count)")
        withExtendedLifetime(typed) {}
        typed = nil
        func expectNothingLeft(_ moment: String) throws {
          let places = try canary.places()
          #expect(run == 1 || places.isEmpty, "\(moment): found \(places.count)")
        }
        try expectNothingLeft("answered")
        try terminal.answering(
          "New password of the keyring \"\(label)\": ", "Repeat the password: ", with: canary
        ) {
          _ = try storage.createCollection(labeled: label)
        }
        try expectNothingLeft("chosen")
        try storage.lock()
        try terminal.answering("Password of the keyring \"\(label)\": ", with: canary) {
          try storage.unlock()
        }
        try expectNothingLeft("typed")
        try storage.lock()
        try storage.unlock(password: .make(of: canary))
        try expectNothingLeft("given")
        let other = Canary()
        try storage.lock()
        #expect(throws: SecureStorageError.self) { try storage.unlock(password: .make(of: other)) }
        #expect(try run == 1 || other.places().isEmpty, "refused")
        try storage.deleteCollection(labeled: label)
      }
    }
  }

  @Test(.withoutKeyring) func `a credentials directory leaves no stray copies of a secret`() async {
    await #expect(processExitsWith: .success) { () async throws -> Void in
      let directory = TemporaryDirectory()
      let storage = CredentialsDirectoryStorage(service: "service", directory: directory.path)
      try await MemoryTrial(of: storage, copiesKept: 0).given(directory.path)
    }
  }

  @Test(.withoutKeyring) func `encoding a value as JSON leaves a copy of the secret`() async {
    await #expect(processExitsWith: .success) {
      let trial = MemoryTrial(of: InMemoryStorage(), copiesKept: 1)
      await withKnownIssue("JSONEncoder writes into memory that only itself could wipe") {
        try await trial.encoding()
      }
    }
  }
}

/// The public ways to store and read a secret, one after the other.
private struct MemoryTrial {
  private let storage: any SecureStorage
  /// The number of copies that the storage itself has in this process.
  private let copiesKept: Int
  /// Whether a reader of a secret shares the storage's copy, if the storage has one.
  private let sharesCopies: Bool
  /// The text at the start of each secret.
  private let beginning: String
  private let service: ServiceScope
  private let server: InternetServer
  private let password: ItemKey
  private let credentials: ItemKey
  private let value: ItemKey

  init(
    of storage: any SecureStorage, copiesKept: Int, sharesCopies: Bool = true,
    beginning: String = ""
  ) {
    let name = PrivateSession.newService()
    self.storage = storage
    self.copiesKept = copiesKept
    self.sharesCopies = sharesCopies
    self.beginning = beginning
    service = storage.service(name)
    server = InternetServer("\(name).example.org")
    password = .password(service: name, account: "account")
    credentials = .credentials(service: name, label: "label")
    value = .value(service: name, account: "account")
  }

  func everyWay() async throws {
    try await items()
    try await values()
    try await generating()
    try await properties()
    try await migrations()
    try await decoding()
  }

  /// Reads JSON that was stored as bytes.
  private func decoding() async throws {
    try await expectNothingLeft(Token.self) { token in
      try storage[value, as: .secret].write(token?.json)
    } read: {
      try storage[value, as: .value(Token.self)].read()
    }
  }

  /// Stores a value as JSON.
  func encoding() async throws {
    try await expectNothingLeft(Token.self) {
      try service.value("account").write($0)
    } read: {
      try service.value("account", as: Token.self).read()
    }
  }

  /// Reads secrets that are written to a file without the storage.
  func given(_ directory: String) async throws {
    let path = directory + "/account"
    for (key, end) in [
      (ItemKey.password(service: "service", account: "account"), "\n"),
      (.value(service: "service", account: "account"), ""),
    ] {
      try await expectNothingLeft([UInt8].self) {
        try writeFile(path, "", $0 ?? [], end)
      } read: {
        try storage.secret(for: key)?.withUnsafeBytes { Array($0) }
      }
      try await expectNothingLeft([UInt8].self) {
        try writeFile(path, "", $0 ?? [], end)
      } read: {
        try storage.items(matching: ItemQuery(kind: key.kind, details: .secret)).first?.secret?
          .withUnsafeBytes { Array($0) }
      }
    }
  }

  private func items() async throws {
    try await expectNothingLeft(Secret.self) { secret in
      guard let secret else {
        _ = try storage.remove(password)
        return
      }
      try storage.save(SecureItem(key: password, secret: secret), mode: .addOrReplace)
    } read: {
      try storage.items(matching: ItemQuery(key: password, details: .all)).first?.secret
    }
    try await expectNothingLeft(Secret.self) { secret in
      guard let secret else {
        _ = try await storage.remove(password)
        return
      }
      try await storage.save(SecureItem(key: password, secret: secret), mode: .addOrReplace)
    } read: {
      try await storage.item(for: password)?.secret
    }
  }

  private func values() async throws {
    try await expectNothingLeft(Secret.self) {
      try storage[password, as: .secret].write($0)
    } read: {
      try storage.secret(for: password)
    }
    try await expectNothingLeft(Secret.self) {
      try await storage[password, as: .secret].write($0)
    } read: {
      try await storage.secret(for: password)
    }
    let internetPassword = ItemKey.internetPassword(server: server, account: "account")
    for key in [password, internetPassword] { try await bothForms(of: storage[key]) }
    try await bothForms(of: storage[credentials, as: .credential])
    try await bothForms(of: storage[value, as: .value([UInt8].self)])
    try await bothForms(of: storage[value, as: .value(Data.self)])
    try await expectNothingLeft(Data.self) {
      try await storage.setData($0, for: value)
    } read: {
      try await storage.data(for: value)
    }
    // The caller gets the password of the credential as text, if there is one.
    try await expectNothingLeft(String.self) { text in
      let credential = text.map { Credential(login: "ada", password: $0) }
      try service.credential("label").write(credential)
    } read: {
      try service.credential("label").read()?.password
    }
  }

  /// Writes and reads a value by its handle, which properties, storages and services have in common.
  private func bothForms<Value: CanaryCarrier>(of value: StoredValue<Value>) async throws {
    try await expectNothingLeft(Value.self) {
      try value.write($0)
    } read: {
      try value.read()
    }
    try await expectNothingLeft(Value.self) {
      try await value.write($0)
    } read: {
      try await value.read()
    }
  }

  private func generating() async throws {
    try await expectNothingLeft(Secret.self) { secret in
      _ = try storage.remove(password)
      guard let secret else { return }
      _ = try storage[password, as: .secret].readOrStore { secret }
    } read: {
      try storage[password, as: .secret].readOrStore { Secret("") }
    }
    try await expectNothingLeft(Credential.self) { credential in
      _ = try await storage.remove(credentials)
      guard let credential else { return }
      _ = try await storage[credentials, as: .credential].readOrStore { credential }
    } read: {
      try await storage[credentials, as: .credential].readOrStore {
        Credential(login: "ada", password: "")
      }
    }
    @Password("account", service: service.service, storage: storage) var property
    try await expectNothingLeft(String.self) { text in
      try $property.remove()
      guard let text else { return }
      // The caller gets a text of its own.
      try $property.readOrStore { text }.wipe()
    } read: {
      property
    }
  }

  private func properties() async throws {
    @Password("account", service: service.service, storage: storage) var password
    @Credentials("label", service: service.service, storage: storage) var credential
    @SecureValue("data", service: service.service, storage: storage) var data: Data?

    try await expectNothingLeft(String.self) {
      password = $0
    } read: {
      password
    }
    try await expectNothingLeft(Credential.self) {
      credential = $0
    } read: {
      credential
    }
    try await expectNothingLeft(Data.self) {
      data = $0
    } read: {
      data
    }
  }

  private func migrations() async throws {
    try await expectNothingLeft(Secret.self) { secret in
      // The migration wouldn't overwrite the item.
      _ = try storage.remove(password)
      guard let secret else { return }
      let source = InMemoryStorage()
      try source[password, as: .secret].write(secret)
      try Migration(of: [password], from: source, to: storage).move()
    } read: {
      try storage.secret(for: password)
    }
    let path = FileManager.default.temporaryDirectory.path + "/" + service.service
    try await expectNothingLeft([UInt8].self) { bytes in
      _ = try storage.remove(value)
      guard let bytes else { return }
      try writeFile(path, "A=1\nTOKEN=\"", bytes, "\" # the token\n")
      let plan = PlaintextMapping.password("TOKEN", as: value)
      try Migration(of: [plan], from: .environmentFile(path), to: storage).move()
    } read: {
      try storage[value, as: .value([UInt8].self)].read()
    }
    try FileManager.default.removeItem(atPath: path)
  }

  /// Writes a secret to a file, between two texts, without copying the secret.
  private func writeFile(
    _ path: String, _ before: String, _ secret: [UInt8], _ after: String
  ) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    for part in [Array(before.utf8), secret, Array(after.utf8)] {
      try #require(write(file, part, part.count) == part.count)
    }
  }

  // MARK: - The trial

  private func expectNothingLeft<Value: CanaryCarrier>(
    _ type: Value.Type, write: (Value?) async throws -> Void, read: () async throws -> Value?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    // The dynamic linker looks up each function at its first call. It saves the vector registers on
    // the stack then, with what memcpy has just moved. Therefore the first run checks nothing.
    try await run(type, write, read) { _, _, _ in }
    try await run(type, write, read) { canary, copies, moment in
      let places = try canary.places()
      #expect(
        places.count == copies, "\(moment): found \(places.count), expected \(copies)",
        sourceLocation: sourceLocation)
    }
  }

  /// Stores a secret, reads it, stores another one in its place, reads that one and removes it.
  private func run<Value: CanaryCarrier>(
    _ type: Value.Type, _ write: (Value?) async throws -> Void, _ read: () async throws -> Value?,
    expect: (_ canary: Canary, _ copies: Int, _ moment: String) throws -> Void
  ) async throws {
    let canaries = [Canary(beginning: beginning), Canary(beginning: beginning)]
    for canary in canaries {
      try await store(canary, as: type, write)
      try expect(canary, copiesKept, "stored")
      try await holding(read) {
        let isShared = Value.isShared && sharesCopies
        try expect(canary, isShared ? 1 : copiesKept + 1, "read, and held")
      }
      try expect(canary, copiesKept, "read")
    }
    try expect(canaries[0], 0, "replaced")
    try await write(nil)
    try expect(canaries[1], 0, "removed")
  }

  private func store<Value: CanaryCarrier>(
    _ canary: Canary, as type: Value.Type, _ write: (Value?) async throws -> Void
  ) async throws {
    let value = Value.make(of: canary)
    try await write(value)
    value.wipe()
  }

  private func holding<Value: CanaryCarrier>(
    _ read: () async throws -> Value?, _ body: () throws -> Void
  ) async throws {
    let value = try #require(try await read())
    try body()
    value.wipe()
  }
}
#endif
