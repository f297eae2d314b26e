// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import KeyringTesting
import Testing

@testable import Keyring

/// A check that no public type shows a secret, in all the ways in which it can become text.
@Suite struct RedactionTests {
  static let marker = "marker-never-to-be-seen"

  @Test func `values hide their secret`() throws {
    let item = SecureItem(
      key: .password(service: "service", account: "account"), secret: Secret(Self.marker))
    expectHidden(Secret(Self.marker))
    expectHidden([Secret(Self.marker)])
    expectHidden(Optional(Secret(Self.marker)) as Any)
    expectHidden(Credential(login: "ada", password: Self.marker))
    expectHidden(["account": Credential(login: "ada", password: Self.marker)])
    expectHidden(item)
    expectHidden(Result<SecureItem, SecureStorageError>.success(item))
  }

  @Test func `a storage and its properties hide their secrets`() throws {
    let storage = InMemoryStorage()
    try withSecureStorage(storage) {
      let settings = Settings()
      settings.authToken = Self.marker
      settings.account = Credential(login: "ada", password: Self.marker)
      try #require(settings.authToken == Self.marker)
      expectHidden(storage)
      expectHidden(settings)
      expectHidden(settings.$authToken)
      expectHidden(settings.$account)
      expectHidden(Password<String?>("authToken", storage: storage))
      expectHidden(Credentials("account", storage: storage))
      expectHidden(try storage.items(matching: ItemQuery(details: .all)))
    }
  }

  @Test func `settings that are printed show their names`() {
    struct Named {
      @Password("stored token") var authToken: String?
      @Credentials("stored account") var account: Credential?
      @InternetPassword(server: "git.example.org", account: "me") var gitPassword: String?
      @SecureValue("stored theme", default: "dark") var theme: String
    }
    for (way, text) in Renderings.of(Named()) {
      #expect(!text.contains("Function"), "\(way): \(text)")
      for name in ["stored token", "stored account", "git.example.org", "stored theme"] {
        #expect(text.contains(name), "\(way): \(text)")
      }
    }
  }

  @Test func `errors hide the secret`() throws {
    let storage = InMemoryStorage()
    let key = ItemKey.password(service: "service", account: "account")
    let item = SecureItem(key: key, secret: Secret(Self.marker))
    try storage.save(item, mode: .add)
    expectHidden(
      #expect(throws: SecureStorageError.self) { try storage.save(item, mode: .add) } as Any)
    try storage.lock()
    let error = #expect(throws: SecureStorageError.self) { try storage.save(item, mode: .add) }
    expectHidden(error as Any)
    expectHidden(SecurePropertyFailure(property: "authToken", error: try #require(error)))
  }

  @Test func `the check finds a secret that is shown`() {
    struct Careless { let text = RedactionTests.marker }
    struct CarelessBytes { let bytes = Array(RedactionTests.marker.utf8) }
    #expect(Renderings.of(Careless()).allSatisfy { shows(Self.marker, $0.text) })
    #expect(Renderings.of(CarelessBytes()).contains { shows(Self.marker, $0.text) })
  }

  private func expectHidden(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
    for (way, text) in Renderings.of(value) {
      #expect(
        !shows(Self.marker, text), "\(way) of \(type(of: value)) shows the secret",
        sourceLocation: sourceLocation)
    }
  }

  private func shows(_ marker: String, _ text: String) -> Bool {
    text.contains(marker) || text.contains(marker.utf8.map(String.init).joined(separator: ", "))
  }
}
