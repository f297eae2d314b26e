// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@Suite(.timeLimit(.minutes(1))) struct PropertyChangesTests {
  private struct Settings {
    @Password("authToken", service: "app") var authToken: String?
    @Credentials("account", service: "app") var account: Credential?
    @SecureValue("session", service: "app") var session: [Int]?
    @InternetPassword(server: "example.org", account: "me") var server: String?
    @Password("again", default: "none", service: "app") var again: String
  }

  private let settings = Settings()

  @Test(.secureStorage(InMemoryStorage()))
  func `a property reports the changes of its item`() async throws {
    var changes = try await settings.$authToken.changes.makeAsyncIterator()
    settings.session = [1]
    settings.authToken = "first"
    #expect(await changes.next(isolation: nil) == .created(settings.$authToken.key))
    #expect(settings.authToken == "first")
    settings.authToken = "second"
    #expect(await changes.next(isolation: nil) == .replaced(settings.$authToken.key))
    settings.authToken = nil
    #expect(await changes.next(isolation: nil) == .removed(settings.$authToken.key))
  }

  @Test func `the changes are those of the storage at the time of the call`() async throws {
    let (first, second) = (InMemoryStorage(), InMemoryStorage())
    let changes = try await withSecureStorage(first) { try await settings.$authToken.changes }
    try await second.setPassword("second", for: settings.$authToken.key)
    try await first[settings.$session.key, as: .value()].write("first")
    try await first.setPassword("first", for: settings.$authToken.key)
    #expect(await changes.first { _ in true } == .created(settings.$authToken.key))
  }

  @Test(.secureStorage(InMemoryStorage()))
  func `settings report the changes of all their items`() async throws {
    let changes = try await SecureProperties(of: settings).changes
    try await SecureStorageDefaults.currentStorage.setPassword(
      "s3cret", for: .password(service: "app", account: "none of them"))
    settings.account = Credential(login: "me", password: "s3cret")
    settings.server = "s3cret"
    settings.session = [1]
    settings.again = "s3cret"
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next(isolation: nil) == .created(settings.$account.key))
    #expect(await iterator.next(isolation: nil) == .created(settings.$server.key))
    #expect(await iterator.next(isolation: nil) == .created(settings.$session.key))
    #expect(await iterator.next(isolation: nil) == .created(settings.$again.key))
    try await SecureProperties(of: settings).removeAll()
    #expect(await iterator.next(isolation: nil) == .removed(settings.$account.key))
  }

  @Test(.secureStorage(SilentStorage()))
  func `a storage that cannot report changes throws an error`() async {
    let error = await expectError(.notObservable) { try await settings.$authToken.changes }
    #expect(error?.operation == .observe)
    #expect(error?.backendName == "SilentStorage")
    await expectError(.notObservable) { try await SecureProperties(of: settings).changes }
  }
}
