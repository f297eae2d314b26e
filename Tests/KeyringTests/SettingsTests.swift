// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@testable import Keyring

/// All properties of a value at once.
@Suite(.secureStorage()) struct SettingsTests {
  struct Session: Codable, Equatable { var id: Int }

  struct Account {
    @Password("refreshToken") var refreshToken: String?
    @SecureValue("session") var session: Session?
  }

  class Base {
    @Password("inherited") var inherited: String?
  }

  final class AppSettings: Base {
    var name = "an app"
    let account = Account()
    @Credentials("login") var login: Credential?
    @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
    @Password("proxyUser", default: "anonymous") var proxyUser: String
    var more: [String: Account] = [:]
    weak var owner: AppSettings?
  }

  private let settings = AppSettings()
  private var properties: SecureProperties {
    get throws(SecureStorageError) { try SecureProperties(of: settings) }
  }

  /// A property that is created later must not be taken for one that was read.
  @Test func `values belong to the properties that were read`() throws {
    weak var identity: AnyObject?
    func read() throws -> SecureProperties.Values {
      let account = Account()
      identity = account.$refreshToken.failures
      return try SecureProperties(of: account).readAll()
    }
    let values = try read()
    // As long as the object is there, no other one has its address.
    #expect(identity != nil)
    let other = Account()
    #expect(throws: SecureStorageError.self) { _ = try values[other.$refreshToken] }
  }

  @Test func `an item of two properties is removed once`() throws {
    let storage = FaultyStorage()
    try withSecureStorage(storage) { () throws in
      let accounts = [Account(), Account()]
      let properties = try SecureProperties(of: accounts)
      storage.fail(.remove, with: .locked, onCall: 1)
      Account().refreshToken = "token"
      accounts[1].refreshToken = nil
      #expect(accounts[1].$refreshToken.failure != nil)
      storage.reset()
      storage.forgetCalls()
      #expect(try properties.removeAll().count == 1)
      #expect(storage.count(of: .remove) == 2)
      #expect(accounts[1].$refreshToken.failure == nil)
    }
  }

  private func fill() {
    settings.inherited = "inherited"
    settings.account.refreshToken = "token"
    settings.account.session = Session(id: 7)
    settings.login = Credential(login: "ada", password: "pa55")
    settings.gitPassword = "git"
  }

  @Test func `nested and inherited properties are found once`() throws {
    settings.owner = settings
    #expect(
      try Set(properties.entries().map(\.name)) == [
        "refreshToken", "session", "login", "me@git.example.org", "proxyUser", "inherited",
      ])
    #expect(try properties.members.count == 6)
    #expect(try SecureProperties(of: Optional(Settings()) as Any).members.count == 3)
    #expect(try SecureProperties(of: [Settings(), Settings()]).members.count == 6)
  }

  @Test func `a value without properties is an error`() {
    struct Hiding: CustomReflectable {
      @Password("hidden") var token: String?
      var customMirror: Mirror { Mirror(self, children: []) }
    }
    final class Lazy { lazy var account = Account() }
    let lazy = Lazy()
    for value in ["nothing", Hiding(), lazy, [Account]()] as [Any] {
      let error = expectError(.invalidArgument, argument: "settings") {
        try SecureProperties(of: value)
      }
      #expect(error?.message.contains("\(type(of: value))") == true)
      #expect(error?.recoverySuggestion?.contains("SecurePropertyList") == true)
    }
    _ = lazy.account
    #expect(throws: Never.self) { try SecureProperties(of: lazy) }
  }

  @Test func `a type can list its properties`() throws {
    final class Listing: SecurePropertyList, CustomReflectable {
      @Password("listed") var token: String?
      @Password("not listed") var other: String?
      lazy var account = Account()
      var secureProperties: [any SecureProperty] {
        [$token, account.$refreshToken, account.$session, $token]
      }
      var customMirror: Mirror { Mirror(self, children: []) }
    }
    let listing = Listing()
    let properties = try SecureProperties(of: [listing, listing])
    #expect(properties.entries().map(\.name) == ["listed", "refreshToken", "session"])
    listing.token = "s3cret"
    listing.account.refreshToken = "s3cret"
    #expect(try properties.readAll()[listing.$token] == "s3cret")
    #expect(try properties.removeAll().count == 2)
    #expect(listing.token == nil && listing.account.refreshToken == nil)
  }

  @Test func `all properties are read in one call`() throws {
    fill()
    let storage = FaultyStorage(SecureStorageDefaults.currentStorage)
    let values = try withSecureStorage(storage) { () throws(SecureStorageError) in
      try properties.readAll()
    }
    #expect(storage.calls.count == 1)
    #expect(try values[settings.account.$refreshToken] == "token")
    #expect(try values[settings.account.$session] == Session(id: 7))
    #expect(try values[settings.$login]?.login == "ada")
    #expect(try values[settings.$gitPassword] == "git")
    #expect(try values[settings.$inherited] == "inherited")
    #expect(try values[settings.$proxyUser] == nil)
    expectError(.invalidArgument) { try values[Settings().$authToken] }
  }

  @Test func `a value of another type is an error only for its property`() throws {
    fill()
    try SecureStorageDefaults.currentStorage[settings.account.$session.key, as: .secret].write(
      Secret(bytes: [0xFF]))
    let values = try properties.readAll()
    #expect(try values[settings.$login]?.login == "ada")
    expectError(.undecodable) { try values[settings.account.$session] }
  }

  @Test func `every item that can be removed is removed`() throws {
    fill()
    #expect(try properties.removeAll().count == 5)
    #expect(try properties.entries().allSatisfy { !$0.isStored && $0.failure == nil })
    #expect(try properties.removeAll().count == 0)

    fill()
    let storage = FaultyStorage(SecureStorageDefaults.currentStorage)
    storage.fail(.remove, with: .timedOut, onCall: 2)
    withSecureStorage(storage) {
      expectError(.timedOut) { try properties.removeAll() }
    }
    #expect(try properties.entries().count(where: \.isStored) == 1)
  }

  @Test func `the items can be copied to another storage`() throws {
    fill()
    let other = InMemoryStorage()
    #expect(try properties.copy(to: other) == 5)
    withSecureStorage(other) {
      #expect(settings.account.refreshToken == "token")
      #expect(settings.login?.password == "pa55")
    }
    expectError(.itemAlreadyExists) { try properties.copy(to: other, mode: .add) }
  }

  @Test func `items of other programs are copied without labels that are refused`() throws {
    // Two properties have one key. Another program has labeled its item.
    let key = settings.account.$refreshToken.key
    let labels = ["https://example.org/", ""]
    for label in labels {
      let foreign = ForeignStorage(SecureItem(key: key, secret: Secret("theirs"), label: label))
      let other = InMemoryStorage()
      let properties = try SecureProperties(of: [settings.account, Account()])
      let count = try withSecureStorage(foreign) { () throws(SecureStorageError) in
        try properties.copy(to: other, mode: .add)
      }
      #expect(count == 1)
      #expect(try other.password(for: key) == "theirs")
    }
  }

  @Test func `a property with a storage of its own keeps it`() throws {
    struct Mixed {
      @Password("common") var common: String?
      @Password("own") var own: String?

      init(_ storage: any SecureStorage) { _own = Password("own", storage: storage) }
    }
    let own = InMemoryStorage()
    let mixed = Mixed(own)
    (mixed.common, mixed.own) = ("common", "own")
    let values = try SecureProperties(of: mixed).readAll()
    #expect(try values[mixed.$common] == "common" && values[mixed.$own] == "own")
    #expect(try own.exists(mixed.$own.key) && !own.exists(mixed.$common.key))
  }

  @Test func `the entries tell which items are stored and which have failures`() throws {
    let storage = FaultyStorage()
    let properties = try properties
    withSecureStorage(storage, failureHandler: ignore) {
      storage.fail(.save, with: .locked, onCall: 1)
      settings.inherited = "not stored"
      settings.gitPassword = "stored"
      let entries = Dictionary(uniqueKeysWithValues: properties.entries().map { ($0.name, $0) })
      #expect(entries["inherited"]?.isStored == false)
      #expect(entries["inherited"]?.failure?.code == .locked)
      #expect(entries["me@git.example.org"]?.isStored == true)
      #expect(entries["me@git.example.org"]?.failure == nil)
      storage.fail(.read, with: .timedOut)
      #expect(properties.entries().allSatisfy { $0.failure != nil && !$0.isStored })
    }
  }

  @Test func `a default is read and never stored`() throws {
    #expect(settings.proxyUser == "anonymous")
    #expect(try !settings.$proxyUser.exists())
    settings.proxyUser = "ada"
    #expect(settings.proxyUser == "ada")
    try settings.$proxyUser.remove()
    #expect(settings.proxyUser == "anonymous")
    let storage = FaultyStorage()
    storage.fail(.read, with: .locked)
    withSecureStorage(storage) {
      #expect(settings.proxyUser == "anonymous")
      #expect(settings.$proxyUser.failure?.code == .locked)
    }
    #expect(storage.count(of: .save) == 0)
  }
}

/// A storage with one item that this package hasn't made.
private struct ForeignStorage: BlockingStorage, EmptyStorage {
  let item: SecureItem

  init(_ item: SecureItem) { self.item = item }

  func items(matching query: ItemQuery) -> [SecureItem] { query.key == item.key ? [item] : [] }
}
