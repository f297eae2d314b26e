// SPDX-License-Identifier: Apache-2.0

import Configuration
import Keyring
import KeyringConfiguration
import KeyringStorage
import Testing

/// Tests of configuration values that are secrets.
@Suite(.timeLimit(.minutes(1))) struct ConfigurationTests {
  private let storage = InMemoryStorage()
  private let key = AbsoluteConfigKey(["database", "password"])
  private var provider: SecureStorageProvider {
    SecureStorageProvider(storage, service: "app", accessGroup: nil, name: "keyring")
  }

  private func setPassword() throws {
    try storage.setPassword(
      "s3cret", for: .password(service: "app", account: "database.password"))
  }

  @Test func `values are read in every way`() async throws {
    try setPassword()
    #expect(try provider.value(forKey: key, type: .string).value?.content == .string("s3cret"))
    let fetched = try await provider.fetchValue(forKey: key, type: .string)
    #expect(fetched.value?.isSecret == true)
    let snapshot = provider.snapshot()
    #expect(try snapshot.value(forKey: key, type: .string).value?.content == .string("s3cret"))
  }

  @Test func `values and snapshots are watched`() async throws {
    try setPassword()
    let first = try await provider.watchValue(forKey: key, type: .string) { updates in
      for await update in updates { return try update.get().value?.content }
      return nil
    }
    #expect(first == .string("s3cret"))
    let name = try await provider.watchSnapshot { updates in
      for await snapshot in updates { return snapshot.providerName }
      return ""
    }
    #expect(name == provider.providerName)
  }

  @Test func `a provider has a name and a description`() {
    #expect(provider.providerName == "SecureStorageProvider[keyring]")
    #expect(provider.description == "SecureStorageProvider[keyring](app)")
    #expect(provider.customMirror.children.count == 1)
  }
}
