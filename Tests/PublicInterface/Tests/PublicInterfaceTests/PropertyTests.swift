// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

struct Token: Codable, Sendable, Equatable {
  var text = ""
}

/// Properties of every kind, in a type that crosses isolation domains.
struct Settings: Sendable {
  @Password("authToken", service: "service", accessGroup: "group") var authToken: String?
  @Password("theme", default: "light") var theme: String
  @Password("signingKey") var signingKey: Secret?
  @InternetPassword(InternetServer("vault.example.org")) var vaultKey: Secret?
  @InternetPassword(server: "vault.example.com") var vaultToken: Secret?
  @Credentials("account", service: "service") var account: Credential?
  @Credentials("guest", default: Credential(login: "guest", password: "")) var guest: Credential
  @InternetPassword(server: "git.example.org", account: "ada") var gitPassword: String?
  @InternetPassword(InternetServer("example.org", port: 8443)) var webPassword: String?
  @InternetPassword(InternetServer("example.com"), default: "anonymous") var ftpPassword: String
  @InternetPassword(server: "mail.example.com", default: "none") var mailPassword: String
  @SecureValue("token", accessGroup: "group") var token: Token?
  @SecureValue("count", default: 0) var count: Int
}

/// The model of a view, on the main actor.
@MainActor final class SettingsModel {
  @Password("authToken") var authToken: String?
  private let settings = Settings()

  func logIn() async throws(SecureStorageError) {
    authToken = "s3cret"
    try await settings.$token.write(Token(text: "s3cret"))
  }

  var isLoggedIn: Bool { authToken != nil && settings.token != nil }
}

actor SettingsActor {
  @SecureValue("count", default: 0) var count: Int

  func increment() -> Int {
    count += 1
    return count
  }
}

/// A class that several tasks share, with its settings in a constant.
final class SharedSettings: Sendable {
  private let settings = Settings()
  var authToken: String? {
    get { settings.authToken }
    set { settings.authToken = newValue }
  }
}

/// A type with a property of a generic type, and with a storage that is chosen later.
struct Box<Value: Codable & Sendable>: Sendable {
  @SecureValue<Value, Value?> var value: Value?
  @Password var name: String?
  @Credentials var account: Credential?
  @InternetPassword var password: String?

  init(_ name: String, in storage: any SecureStorage) {
    _value = SecureValue(name, storage: storage)
    _name = Password(name, storage: storage)
    _account = Credentials(name, storage: storage)
    _password = InternetPassword(server: name, storage: storage)
  }
}

@Suite(.secureStorage()) struct PropertyTests {
  private let settings = Settings()

  @Test func `a property reports its times`() throws {
    @Password("token", expiresAfter: .seconds(60), storage: InMemoryStorage()) var token: String?
    token = "s3cret"
    let dates = try #require(try $token.dates())
    #expect(dates.created != nil && dates.modified != nil && dates.expires != nil)
    #expect(!dates.isExpired && dates.age != nil)
    #expect(Set([dates, dates]).count == 1)
  }

  @Test func `a property can generate its value`() async throws {
    struct Generating: SecurePropertyList {
      @Password("key", orGenerate: .random(bytes: 16)) var key: Secret?
      @Password("token", orGenerate: "t0ken", expiresAfter: .seconds(60)) var token: String?
      @Credentials("account", orGenerate: Credential(login: "ada", password: "pa55"))
      var account: Credential?
      @SecureValue("session", orGenerate: Token(text: "text")) var session: Token?
      var secureProperties: [any AnySecureProperty] { [$key, $token, $account, $session] }
    }
    let generating = Generating()
    #expect(generating.key?.count == 16 && generating.key == Generating().key)
    #expect(generating.token == "t0ken" && generating.account?.login == "ada")
    #expect(try await generating.$session.read() == Token(text: "text"))
    let listed: any SecurePropertyList = generating
    #expect(listed.secureProperties.count == 4)
    #expect(try SecureProperties(of: listed).count == 4)
    #expect(try await settings.$authToken.readOrStore { "new" } == "new")
    func again() throws -> String { try settings.$authToken.readOrStore { "another" } }
    #expect(try again() == "new")
    #expect(throws: SecureStorageError.self) { try SecureProperties(of: "nothing") }
  }

  @Test func `the times can be awaited`() async throws {
    @Password("token", expiresAfter: .seconds(60), storage: InMemoryStorage()) var token: String?
    #expect(try await $token.dates() == nil)
  }

  @Test func `a struct can have properties of every kind`() {
    settings.authToken = "s3cret"
    settings.theme = "dark"
    settings.account = Credential(login: "ada", password: "pa55")
    settings.signingKey = Secret("signs")
    (settings.vaultKey, settings.vaultToken) = (Secret("key"), Secret("token"))
    #expect(settings.signingKey == Secret("signs") && settings.vaultKey == Secret("key"))
    #expect(settings.vaultToken?.text == "token")
    func stored<Value: PasswordValue>(_ type: Value.Type) -> Value._StoredPassword.Type {
      Value._StoredPassword.self
    }
    #expect(stored(String?.self) == String.self && stored(Secret?.self) == Secret.self)
    #expect(
      String._StoredPassword.self == String.self && Secret._StoredPassword.self == Secret.self)
    #expect(Secret?._StoredPassword.self == Secret.self)
    settings.guest.login = "visitor"
    settings.gitPassword = "of git"
    settings.webPassword = "of the web"
    settings.ftpPassword = "of files"
    settings.token = Token(text: "text")
    settings.count += 1
    #expect(Settings().authToken == "s3cret" && Settings().theme == "dark")
    #expect(Settings().account?.login == "ada" && Settings().guest.login == "visitor")
    #expect(Settings().gitPassword == "of git" && Settings().webPassword == "of the web")
    #expect(Settings().ftpPassword == "of files" && Settings().mailPassword == "none")
    #expect(Settings().count == 1)
    #expect(Settings().token == Token(text: "text"))
  }

  @Test func `several tasks can share a class with settings`() async {
    let shared = SharedSettings()
    await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { shared.authToken = "s3cret" } }
    }
    #expect(shared.authToken == "s3cret")
  }

  @Test @MainActor func `a model on the main actor can have properties`() async throws {
    let model = SettingsModel()
    #expect(!model.isLoggedIn)
    try await model.logIn()
    #expect(model.isLoggedIn)
  }

  @Test func `an actor can have properties`() async {
    #expect(await SettingsActor().increment() == 1)
    #expect(await SettingsActor().increment() == 2)
  }

  @Test func `a generic type can have properties`() {
    let storage = InMemoryStorage()
    let box = Box<[Token]>("box", in: storage)
    box.value = [Token(text: "text")]
    box.name = "name"
    box.account = Credential(login: "ada", password: "pa55")
    box.password = "pa55"
    #expect(Box<[Token]>("box", in: storage).value == [Token(text: "text")])
    #expect(Box<[Token]>("box", in: InMemoryStorage()).name == nil)
  }

  @Test func `property wrappers work without the attribute`() {
    let storage = InMemoryStorage()
    let password = Password<String?>("name", storage: storage)
    password.wrappedValue = "s3cret"
    #expect(password.projectedValue.failure == nil)
    let account = Credentials("name", storage: storage)
    account.wrappedValue = nil
    #expect(account.projectedValue.key.kind == .credentials)
    let server = InternetPassword(server: "example.org", storage: storage)
    server.wrappedValue = nil
    #expect(server.projectedValue.key.kind == .internetPassword)
    let count = SecureValue("count", default: 0, storage: storage)
    count.wrappedValue = 1
    #expect(count.projectedValue.key.kind == .value)
  }

  @Test func `a projected value reads, writes and removes`() throws {
    let token: SecureProperty<Token> = settings.$token
    try token.write(Token(text: "text"))
    #expect(try token.read() == Token(text: "text"))
    #expect(try token.exists())
    #expect(try token.remove())
    #expect(token.failure == nil)
    #expect(token.storage.backendName == "InMemoryStorage")
    #expect(token.description == token.key.description)
    #expect(token.customMirror.children.count == 1)
  }

  @Test func `a projected value reads, writes and removes with await`() async throws {
    let token = settings.$token
    try await token.write(Token(text: "text"))
    #expect(try await token.read() == Token(text: "text"))
    #expect(try await token.exists())
    #expect(try await token.remove())
  }

  @Test func `all properties of a value are read, copied and removed`() throws {
    settings.authToken = "s3cret"
    let properties = try SecureProperties(of: settings)
    #expect(properties.count == 13)
    let entry: SecureProperties.Entry = try #require(properties.entries().first)
    #expect(entry.name == "authToken" && entry.key == settings.$authToken.key)
    #expect(entry.isStored && entry.failure == nil)
    let values: SecureProperties.Values = try properties.readAll()
    #expect(try values[settings.$authToken] == "s3cret")
    #expect(try properties.copy(to: InMemoryStorage(), mode: .add) == 1)
    #expect(try properties.removeAll() == 1)
  }

  @Test func `all properties of a value are read, copied and removed with await`() async throws {
    settings.authToken = "s3cret"
    let properties = try SecureProperties(of: settings)
    #expect(try await properties.readAll()[settings.$authToken] == "s3cret")
    #expect(try await properties.copy(to: InMemoryStorage()) == 1)
    #expect(try await properties.removeAll() == 1)
  }

  @Test func `a block can have its own storage`() async throws {
    let synchronous: String? = withSecureStorage(InMemoryStorage()) {
      settings.authToken = "s3cret"
      return settings.authToken
    }
    #expect(synchronous == "s3cret")
    try await withSecureStorage(InMemoryStorage()) { () async throws(SecureStorageError) in
      try await settings.$authToken.write("s3cret")
    }
    #expect(settings.authToken == nil)
    #expect(SecureStorageDefaults.currentStorage is InMemoryStorage)
  }
}

/// Tests of the process's defaults.
///
/// They set the defaults to their current values, because other tests run at the same time.
@Suite struct DefaultsTests {
  private final class Report: Sendable {
    let failures = Mutex<[SecurePropertyFailure]>([])
  }

  @Test func `the failure of a plain assignment is reported`() throws {
    let handler = SecureStorageDefaults.failureHandler
    defer { SecureStorageDefaults.failureHandler = handler }
    let report = Report()
    SecureStorageDefaults.failureHandler = { failure in
      report.failures.withLock { $0.append(failure) }
    }
    let storage = FaultyStorage()
    storage.fail(.save, with: .locked)
    withSecureStorage(storage) { Settings().theme = "dark" }
    let failure = try #require(report.failures.withLock { $0.first })
    #expect(failure.property == "theme" && failure.error.code == .locked)
    #expect(failure.operation == .save)
    let same = SecurePropertyFailure(property: "theme", error: failure.error)
    #expect(failure.description == same.description)
  }

  @Test func `the process has a default service and storage`() {
    let service = SecureStorageDefaults.service
    SecureStorageDefaults.service = service
    #expect(Settings().$theme.key == .password(service: service, account: "theme"))
    SecureStorageDefaults.storage = nil
    #expect(SecureStorageDefaults.storage == nil)
  }
}
