// SPDX-License-Identifier: Apache-2.0

import ATProtoKit
import Auth
import Dependencies
import Foundation
import HuggingFace
import Keyring
import KeyringStorage
import KeyringTesting
import Logging
import OAuthKit
import OAuthenticator
import PostgresNIO
import ServiceLifecycle
import Testing

@testable import Recipes

@Suite(.secureStorage()) struct RecipesTests {
  /// Bytes that are neither text nor JSON.
  private static let session = Data([0, 0xff, 0x7b])

  private var storage: any SecureStorage { SecureStorageDefaults.currentStorage }

  @Test func `supabase's session is kept as its own bytes`() throws {
    try checkSupabase()
  }

  // The gate runs the tests in a private session.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["KEYRING_TEST_PROVIDER"] != nil))
  func `supabase's session is kept in a keyring`() throws {
    try withSecureStorage(SecretServiceStorage()) { try checkSupabase() }
  }

  private func checkSupabase() throws {
    let local: any AuthLocalStorage = KeyringAuthStorage()
    #expect(try local.retrieve(key: "session") == nil)
    try local.store(key: "session", value: Data("old".utf8))
    try local.store(key: "session", value: Self.session)
    #expect(try local.retrieve(key: "session") == Self.session)
    let key = ItemKey.value(service: SecureStorageDefaults.service, account: "session")
    #expect(try storage.secret(for: key) == Secret(bytes: Self.session))
    try local.remove(key: "session")
    try local.remove(key: "session")
    #expect(try local.retrieve(key: "session") == nil)
  }

  @Test func `a locked keyring is an error instead of a missing session`() throws {
    let storage = InMemoryStorage()
    try withSecureStorage(storage) {
      try KeyringAuthStorage().store(key: "session", value: Self.session)
      try storage.lock()
      #expect(throws: SecureStorageError.self) { try KeyringAuthStorage().retrieve(key: "session") }
    }
  }

  @Test func `ATProtoKit's credentials are kept as their own bytes`() async throws {
    let store: any ATCredentialStore = KeyringCredentialStore(
      service: "ATProtoKit", storage: storage)
    #expect(try await store.loadValue(forKey: "id.refreshToken") == nil)
    try await store.saveValue(Self.session, forKey: "id.refreshToken")
    try await store.saveValue(Data(), forKey: "id.password")
    #expect(try await store.loadValue(forKey: "id.refreshToken") == Self.session)
    try await store.deleteValue(forKey: "id.refreshToken")
    try await store.deleteValue(forKey: "id.refreshToken")
    #expect(try await store.loadValue(forKey: "id.refreshToken") == nil)
    #expect(try await store.loadValue(forKey: "id.password") == Data())
  }

  @Test func `OAuthKit's tokens are listed and cleared, and nothing else is`() throws {
    let tokens: any Keychain.Storage = Keychain.LinuxStorage(account: "org.example.app")
    #expect(try tokens.set(Self.session, for: "github"))
    #expect(try tokens.set(Data(), for: "google"))
    #expect(try tokens.get(key: "github") == Self.session)
    let names = ["github", "google"].map(tokens.accountKey)
    #expect(tokens.keys == names)
    #expect(tokens.delete(key: names[0]))
    #expect(!tokens.delete(key: names[0]))
    #expect(try tokens.get(key: "github") == nil)

    let appKey = ItemKey.password(service: "org.example.app", account: "token")
    try storage.setPassword("the app's", for: appKey)
    #expect(tokens.clear())
    #expect(tokens.keys == [])
    #expect(try storage.password(for: appKey) == "the app's")
  }

  @Test func `a failure isn't reported as cleared tokens`() throws {
    let storage = FaultyStorage()
    storage.fail(.remove, with: .locked)
    withSecureStorage(storage) {
      #expect(!Keychain.LinuxStorage(account: "org.example.app").clear())
    }
  }

  @Test func `OAuthenticator's login comes back with its expiry`() async throws {
    let logins = LoginStorage.keyring("mastodon.example.org")
    #expect(try await logins.retrieveLogin() == nil)
    let login = Login(
      accessToken: Token(value: "access", expiry: Date(timeIntervalSinceReferenceDate: 8e8)),
      refreshToken: Token(value: "refresh"))
    try await logins.storeLogin(login)
    #expect(try await LoginStorage.keyring("mastodon.example.org").retrieveLogin() == login)
    #expect(try await LoginStorage.keyring("social.example.org").retrieveLogin() == nil)
  }

  @Test func `Hugging Face's token is what its own storage of a Mac wrote`() async throws {
    let expiry = Date(timeIntervalSinceReferenceDate: 8e8)
    let token = OAuthToken(accessToken: "access", refreshToken: nil, expiresAt: expiry)
    let key = ItemKey.value(service: "org.example.app", account: "huggingface")
    try await storage.setData(JSONEncoder().encode(token), for: key)
    let tokens = HuggingFaceAuthenticationManager.TokenStorage.keyring(
      service: "org.example.app", account: "huggingface")
    #expect(try tokens.retrieve()?.expiresAt == expiry)
    try tokens.store(OAuthToken(accessToken: "new", refreshToken: "r", expiresAt: expiry))
    let stored = try #require(try await storage.data(for: key))
    #expect(try JSONDecoder().decode(OAuthToken.self, from: stored).accessToken == "new")
    try tokens.delete()
    try tokens.delete()
    #expect(try tokens.retrieve()?.accessToken == nil)

    let provider = TokenProvider.keyring("hub")
    #expect(try await provider.getToken() == nil)
    try await Password("hub").write("hf_token")
    #expect(try await provider.getToken() == "hf_token")
  }

  @Test func `a live client uses the app's storage, and that of a test its own`() async throws {
    var values = DependencyValues()
    let ofTest = values.tokenClient
    try await ofTest.signIn("of the test")
    #expect(try await ofTest.token() == "of the test")
    #expect(try await Password("authToken").read() == nil)

    values.tokenClient = .liveValue
    try await values.tokenClient.signIn("s3cret")
    #expect(try await Password("authToken").read() == "s3cret")
    try await values.tokenClient.signOut()
    #expect(try await values.tokenClient.token() == nil)
  }

  @Test(.timeLimit(.minutes(1))) func `a service follows a secret until a graceful shutdown`()
    async throws
  {
    let password = Password("password")
    try await password.write("first")
    let (used, continuation) = AsyncStream.makeStream(of: String.self)
    let follower = SecretFollower(property: password, logger: Logger(label: "test")) {
      continuation.yield($0)
    }
    let group = ServiceGroup(services: [follower], logger: Logger(label: "test"))
    async let end: Void = group.run()
    var values = used.makeAsyncIterator()
    #expect(await values.next() == "first")
    try await password.write("second")
    #expect(await values.next() == "second")
    await group.triggerGracefulShutdown()
    try await end
  }

  @Test(.timeLimit(.minutes(1))) func `a client of a database ends after its last query`()
    async throws
  {
    let database = RotatingPostgres(as: Credential(login: "app_0", password: "first")) {
      PostgresClient(
        configuration: .init(
          host: "db.example.org", username: $0.login, password: $0.password, database: "app",
          tls: .disable))
    }
    let old = try await database.withConnection { connection in
      database.connect(as: Credential(login: "app_1", password: "second"))
      let new = try await database.withConnection { $0.client }
      #expect(new.configuration.username == "app_1")
      #expect(new.configuration.password == "second")
      return connection.client
    }
    #expect(old.configuration.username == "app_0")
    for await _ in old.life {}  // the old client has ended
    #expect(try await database.withConnection { $0.client.configuration.username } == "app_1")
  }
}
