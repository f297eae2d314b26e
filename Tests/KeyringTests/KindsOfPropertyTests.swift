// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// Properties of every kind, and the items that they store.
@Suite(.secureStorage()) struct KindsOfPropertyTests {
  struct Session: Codable, Sendable, Equatable {
    var token: String
    var scopes: [String]
  }

  struct Settings {
    @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
    @InternetPassword(
      server: InternetServer("git.example.org", port: 8443, protocol: .https), account: "me")
    var webPassword: String?
    @SecureValue("session") var session: Session?
    @SecureValue("key") var key: [UInt8]?
    @SecureValue("blob") var blob: Data?
    @Password("token", accessGroup: "org.example.suite") var shared: String?
    @Password("token") var own: String?
    @Password("signingKey") var signingKey: Secret?
    @InternetPassword(server: "vault.example.org") var vaultToken: Secret?
    @Password("untyped") var untyped
  }

  let settings = Settings()

  @Test func `the parts of an internet password make its key`() {
    let server = InternetServer("git.example.org", port: 8443, protocol: .https)
    #expect(settings.$webPassword.key == .internetPassword(server: server, account: "me"))
    settings.webPassword = "of the web"
    #expect(Settings().webPassword == "of the web" && settings.gitPassword == nil)
  }

  @Test func `a password property can keep its secret in locked memory`() throws {
    // A secret doesn't have to be text.
    settings.signingKey = Secret(bytes: [0, 0xFF, 1])
    settings.vaultToken = Secret("s3cret")
    #expect(Settings().signingKey == Secret(bytes: [0, 0xFF, 1]))
    #expect(try Settings().$vaultToken.read() == Secret("s3cret"))
    // A text property of the same name has the same item.
    @Password("signingKey") var text: String?
    #expect(text == nil && $text.failure?.code == .undecodable)
    #expect($text.failure?.message == "The stored password isn't text in UTF-8.")
    settings.signingKey = Secret("text")
    #expect(text == "text")
    settings.signingKey = nil
    #expect(try !settings.$signingKey.exists())
    #expect(type(of: settings.untyped) == String?.self)
  }

  @Test func `a credential can keep its secret in locked memory`() throws {
    let storage = SecureStorageDefaults.currentStorage
    let key = ItemKey.credentials(service: "service", label: "label")
    let credential = try #require(Credential(login: "ada", secret: Secret("pa55")))
    try storage[key, as: .credential].write(credential)
    #expect(try storage[key, as: .credential].read()?.secret == Secret("pa55"))
    #expect(credential == Credential(login: "ada", password: "pa55"))
    #expect(Credential(login: "ada", secret: Secret(bytes: [0xFF])) == nil)
  }

  @Test func `a value comes back as it was written`() throws {
    let session = Session(token: "s3cret", scopes: ["read"])
    settings.session = session
    settings.key = [0, 0xFF, 1]
    settings.blob = Data([2, 3])
    #expect(Settings().session == session)
    #expect(Settings().key == [0, 0xFF, 1])
    #expect(Settings().blob == Data([2, 3]))
    let stored = try settings.$key.storage.secret(for: settings.$key.key)
    #expect(stored == Secret(bytes: [0, 0xFF, 1]))
    settings.session = nil
    #expect(Settings().session == nil)
  }

  @Test func `generic code stores bytes as bytes`() throws {
    struct Box<Value: Codable & Sendable> {
      @SecureValue("box") var value: Value?
    }
    let box = Box<Data>()
    box.value = Data([0xFF])
    #expect(try box.$value.storage.secret(for: box.$value.key) == Secret(bytes: [0xFF]))
  }

  @Test func `the access group is part of the key`() {
    settings.shared = "shared"
    #expect(settings.own == nil)
    settings.own = "own"
    #expect(settings.shared == "shared")
  }

  @Test func `the asynchronous methods use the current storage`() async throws {
    try await settings.$own.write("s3cret")
    #expect(try await settings.$own.read() == "s3cret")
    #expect(settings.own == "s3cret")
    #expect(try await settings.$own.exists())
    let elsewhere = try await withSecureStorage(InMemoryStorage()) { () async throws in
      try await settings.$own.read()
    }
    #expect(elsewhere == nil)
    #expect(try await settings.$own.remove())
    #expect(settings.own == nil)
  }

  @Test func `an asynchronous write clears the failure`() async throws {
    let storage = InMemoryStorage()
    try await withSecureStorage(storage, failureHandler: ignore) {
      try await storage.lock()
      settings.own = "s3cret"
      #expect(settings.$own.failure?.code == .locked)
      try await storage.unlock()
      try await settings.$own.write("s3cret")
      #expect(settings.$own.failure == nil)
    }
  }
}
