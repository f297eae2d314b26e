// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringMigration
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Migrations of all properties of a value at once.
@Suite(.secureStorage()) struct SettingsMigrationTests {
  struct Session: Codable, Equatable { var id: Int }

  struct AppSettings {
    @Password("authToken") var authToken: String?
    @Credentials("account") var account: Credential?
    @SecureValue("session") var session: Session?
    @SecureValue("key") var key: Data?
    @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
    @Password("own") var own: String?

    init(own storage: any SecureStorage) { _own = Password("own", storage: storage) }
  }

  private let vault = InMemoryStorage()
  private var settings: AppSettings { AppSettings(own: vault) }
  private var properties: SecureProperties {
    get throws(SecureStorageError) { try SecureProperties(of: settings) }
  }

  private let defaults = Defaults([
    "authToken": "s3cret", "account": ["login": "ada", "password": "pa55"],
    "session": "{\"id\": 7}", "key": Data([0, 0xFF]), "git": "git", "own": "own", "theme": "dark",
  ])

  private func expectAll(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(settings.authToken == "s3cret", sourceLocation: sourceLocation)
    #expect(
      settings.account == Credential(login: "ada", password: "pa55"),
      sourceLocation: sourceLocation)
    #expect(settings.session == Session(id: 7), sourceLocation: sourceLocation)
    #expect(settings.key == Data([0, 0xFF]), sourceLocation: sourceLocation)
    #expect(settings.gitPassword == "git", sourceLocation: sourceLocation)
    #expect(settings.own == "own", sourceLocation: sourceLocation)
  }

  private let paths = ["me@git.example.org": ["git"]]

  @Test func `plaintext goes to the properties with the same names`() throws {
    #expect(try properties.migrate(from: defaults.plaintext, at: paths) == 6)
    expectAll()
    #expect(defaults.names == ["theme"])
    #expect(try vault.items(matching: ItemQuery()).map(\.key) == [settings.$own.key])
    #expect(try properties.migrate(from: defaults.plaintext, at: paths) == 0)
  }

  @Test func `asynchronous migrations use the current storage`() async throws {
    #expect(try await properties.migrate(from: defaults.plaintext, at: paths) == 6)
    expectAll()
    let other = InMemoryStorage()
    #expect(
      try await properties.migrate(from: SecureStorageDefaults.currentStorage, to: other) == 5)
    withSecureStorage(other) { expectAll() }
  }

  @Test func `items of another storage move to the current one`() throws {
    let old = InMemoryStorage()
    try properties.migrate(from: defaults.plaintext, at: paths, to: old)
    #expect(settings.authToken == nil)
    let reports = Mutex<[Migration.Progress]>([])
    #expect(
      try properties.migrate(from: old) { report in reports.withLock { $0.append(report) } } == 5)
    expectAll()
    #expect(try old.items(matching: ItemQuery()).isEmpty)
    #expect(reports.withLock { $0.last }?.completed == 5)
  }

  @Test func `one value of a wrong type leaves all values as they are`() throws {
    let names = defaults.names
    for (name, value) in [
      ("authToken", 1), ("account", "ada"), ("session", ["name": "x"]), ("key", "no Base64!"),
      ("own", true),
    ] as [(String, any Sendable)] {
      let right = defaults.values.withLock { $0.updateValue(value, forKey: name) }
      let error = expectError(.undecodable) {
        try properties.migrate(from: defaults.plaintext, at: paths)
      }
      #expect(error?.message.contains(name) == true)
      #expect(try properties.entries().allSatisfy { !$0.isStored })
      defaults.values.withLock { $0[name] = right }
    }
    #expect(defaults.names == names)
  }

  @Test func `a property that already has a value leaves all values as they are`() throws {
    settings.own = "another"
    expectError(.itemAlreadyExists) { try properties.migrate(from: defaults.plaintext, at: paths) }
    #expect(settings.own == "another")
    #expect(settings.authToken == nil)
    #expect(defaults.names.count == 7)
  }

  @Test func `two properties with one name do not share a value`() throws {
    struct Two {
      @Password("authToken") var common: String?
      @Password var own: String?

      init(own: Password<String?>) { _own = own }
    }
    for own in [
      Password("authToken", service: "other"),
      Password("authToken", service: "other", storage: vault),
      // This one is the same item in another storage.
      Password("authToken", storage: vault),
    ] as [Password<String?>] {
      expectError(.ambiguous) {
        try SecureProperties(of: Two(own: own)).migrate(from: defaults.plaintext)
      }
    }
    #expect(defaults.names.count == 7)
  }

  @Test func `a path for no property is refused`() throws {
    let error = #expect(throws: SecureStorageError.self) {
      try properties.migrate(from: defaults.plaintext, at: ["authTokn": ["authToken"]])
    }
    #expect(error?.argument == "paths")
    for name in ["\"authToken\"", "\"me@git.example.org\""] {
      #expect(error?.recoverySuggestion?.contains(name) == true)
    }
  }

  @Test func `a migration goes on after a failure at any call`() throws {
    var failures = 0
    for operation in [SecureStorageError.Operation.read, .save] {
      for call in 1...7 {
        let defaults = Defaults(self.defaults.values.withLock(\.self))
        let storage = FaultyStorage()
        storage.failAfterCompletion(operation, with: .connectionLost, onCall: call)
        try withSecureStorage(storage) { () throws in
          let own = InMemoryStorage()
          let properties = try SecureProperties(of: AppSettings(own: own))
          do { try properties.migrate(from: defaults.plaintext, at: paths) } catch {
            if operation == .save { failures += 1 }
            #expect(defaults.names.count == 7)
            #expect(try properties.migrate(from: defaults.plaintext, at: paths) == 6)
          }
          storage.reset()
          #expect(defaults.names == ["theme"])
          #expect(try storage.items(matching: ItemQuery()).count == 5)
          #expect(try own.items(matching: ItemQuery()).count == 1)
        }
      }
    }
    #expect(failures == 5, "each of the five saves fails")
  }
}
