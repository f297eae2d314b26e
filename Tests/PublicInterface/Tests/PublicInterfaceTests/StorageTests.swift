// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import Testing

/// Tests of reading and writing, in generic code and with `any`.
@Suite struct StorageTests {
  struct Session: Codable, Sendable, Equatable {
    var token: String
  }

  private let storage = InMemoryStorage()
  private let password = ItemKey.password(service: "service", account: "account")
  private let credential = ItemKey.credentials(service: "service", label: "label")
  private let value = ItemKey.value(service: "service", account: "account", accessGroup: "group")

  @Test func `generic code can save, read and remove items`() throws {
    func keep(_ storage: some SecureStorage) throws(SecureStorageError) {
      try storage.save(SecureItem(key: password, secret: Secret("s3cret")), mode: .add)
      let found = try storage.items(for: [password, credential], details: .all)
      guard let item = found[password] else { throw failure(.itemNotFound) }
      #expect(item.label == password.defaultLabel)
      #expect(try storage.items(matching: .key(password)) == [item.selecting([])])
      #expect(try storage.exists(password))
      #expect(try storage.item(for: password)?.secret == Secret("s3cret"))
      #expect(try storage.secret(for: password) == Secret("s3cret"))
      #expect(try storage.remove(password))
      #expect(try storage.removeItems(matching: .service("service")) == 0)
      #expect(storage.backendName == "InMemoryStorage")
    }
    try keep(storage)
    try storage.save(SecureItem(key: password, secret: Secret("s3cret")), mode: .add)
    #expect(try storage.removeItems(matching: .key(password)) == 1)
  }

  @Test func `a value can be read or stored`() async throws {
    let new = Credential(login: "ada", password: "pa55")
    #expect(try readOrStore(storage) == "s3cret")
    #expect(try await storage.readOrStorePassword(for: password) { "another" } == "s3cret")
    let secret = try await storage.readOrStoreSecret(for: password) { Secret("another") }
    #expect(secret == Secret("s3cret"))
    #expect(try await storage.readOrStoreCredential(for: credential) { new } == new)
    let session = try await storage.readOrStoreValue(Session.self, for: value) {
      Session(token: "another")
    }
    #expect(session == Session(token: "s3cret"))
  }

  private func readOrStore(_ storage: any SecureStorage) throws(SecureStorageError) -> String {
    let other = ItemKey.credentials(service: "service", label: "other")
    _ = try storage.readOrStoreSecret(for: password, expiresAfter: .seconds(60)) {
      Secret("s3cret")
    }
    _ = try storage.readOrStoreValue(Session.self, for: value) { Session(token: "s3cret") }
    _ = try storage.readOrStoreCredential(for: other) { Credential(login: "ada", password: "") }
    return try storage.readOrStorePassword(for: password) { "another" }
  }

  @Test func `items can be saved, read and removed behind an existential`() async throws {
    let storage: any SecureStorage = storage
    try await storage.save(SecureItem(key: password, secret: Secret("s3cret")), mode: .addOrReplace)
    #expect(try await storage.items(matching: .key(password, details: .secret)).count == 1)
    #expect(try await storage.exists(password))
    #expect(try await storage.item(for: password, details: .metadata)?.secret == nil)
    #expect(try await storage.remove(password))
    #expect(try await storage.removeItems(matching: .service("service")) == 0)
  }

  @Test func `values of every type can be set and read`() throws {
    try storage.setSecret(Secret("s3cret"), for: password)
    #expect(try storage.secret(for: password) == Secret("s3cret"))
    try storage.setPassword("pa55", for: password, mode: .update)
    #expect(try storage.password(for: password) == "pa55")
    try storage.setCredential(Credential(login: "ada", password: "pa55"), for: credential)
    #expect(try storage.credential(for: credential)?.password == "pa55")
    try storage.setValue(Session(token: "s3cret"), for: value)
    #expect(try storage.value(Session.self, for: value) == Session(token: "s3cret"))
  }

  @Test func `values of every type can be set and read with await`() async throws {
    try await storage.setSecret(Secret("s3cret"), for: password)
    #expect(try await storage.secret(for: password) == Secret("s3cret"))
    try await storage.setPassword("pa55", for: password)
    #expect(try await storage.password(for: password) == "pa55")
    try await storage.setCredential(Credential(login: "ada", password: "pa55"), for: credential)
    #expect(try await storage.credential(for: credential)?.login == "ada")
    try await storage.setValue(Session(token: "s3cret"), for: value)
    #expect(try await storage.value(Session.self, for: value) == Session(token: "s3cret"))
  }

  @Test func `a service scope has values of every type`() throws {
    let service: ServiceScope = storage.service("service", accessGroup: "group")
    #expect(service.service == "service" && service.accessGroup == "group")
    #expect(service.storage.backendName == storage.backendName)
    try service.setPassword("s3cret", for: "account")
    #expect(try service.password(for: "account") == "s3cret")
    #expect(try service.accounts() == ["account"])
    #expect(try service.removePassword(for: "account"))
    try service.setCredential(Credential(login: "ada", password: "pa55"), labeled: "label")
    #expect(try service.credential(labeled: "label")?.login == "ada")
    #expect(try service.credentialLabels() == ["label"])
    #expect(try service.removeCredential(labeled: "label"))
    try service.setValue(Session(token: "s3cret"), for: "session")
    #expect(try service.value(Session.self, for: "session") == Session(token: "s3cret"))
    #expect(try service.valueAccounts() == ["session"])
    #expect(try service.removeValue(for: "session"))
    #expect(try service.removeAll() == 0)
  }

  @Test func `a service scope has values of every type with await`() async throws {
    let service = storage.service("service")
    try await service.setPassword("s3cret", for: "account")
    #expect(try await service.password(for: "account") == "s3cret")
    #expect(try await service.accounts() == ["account"])
    #expect(try await service.removePassword(for: "account"))
    try await service.setCredential(Credential(login: "ada", password: "pa55"), labeled: "label")
    #expect(try await service.credential(labeled: "label")?.login == "ada")
    #expect(try await service.credentialLabels() == ["label"])
    #expect(try await service.removeCredential(labeled: "label"))
    try await service.setValue(Session(token: "s3cret"), for: "session")
    #expect(try await service.value(Session.self, for: "session") == Session(token: "s3cret"))
    #expect(try await service.valueAccounts() == ["session"])
    #expect(try await service.removeValue(for: "session"))
    #expect(try await service.removeAll() == 0)
  }

  @Test func `a server scope has passwords`() async throws {
    let server: ServerScope = storage.server(InternetServer("git.example.org"))
    #expect(server.server.host == "git.example.org")
    #expect(server.storage.backendName == storage.backendName)
    try onServer(server)
    try await server.setPassword("s3cret", for: "ada")
    #expect(try await server.password(for: "ada") == "s3cret")
    #expect(try await server.accounts() == ["ada"])
    #expect(try await server.removePassword(for: "ada"))
    #expect(try await server.removeAll() == 0)
  }

  private func onServer(_ server: ServerScope) throws {
    try server.setPassword("s3cret", for: "ada")
    #expect(try server.password(for: "ada") == "s3cret")
    #expect(try server.accounts() == ["ada"])
    #expect(try server.removePassword(for: "ada"))
    #expect(try server.removeAll() == 0)
  }

  @Test func `validation is for every storage`() throws {
    try storage.validate(SecureItem(key: password))
    try storage.validate(.service("service"), for: .remove)
    try storage.validate(collectionLabel: "label", for: .createCollection)
    #expect(throws: SecureStorageError.self) {
      try storage.requireSecret(SecureItem(key: password))
    }
    #expect(throws: SecureStorageError.self) { try storage.validate(ItemQuery(), for: .remove) }
  }

  private func failure(_ code: SecureStorageError.Code) -> SecureStorageError {
    SecureStorageError(code, operation: .read, backendName: "Test")
  }
}
