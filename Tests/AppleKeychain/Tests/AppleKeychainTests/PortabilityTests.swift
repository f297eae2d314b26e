// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringApple
import KeyringStorage
import KeyringTesting
import Testing

/// The tests that run on a Mac beside those of the keychains, and on Linux to see that it compiles.
struct PortabilityTests {
  @Test(arguments: StorageContract.cases(for: InMemoryStorage.self))
  func `the storage in memory keeps the contract`(rule: StorageContract) throws {
    try rule.verify(InMemoryStorage())
  }

  @Test(.secureStorage()) func `a property uses the storage of its test`() throws {
    struct Settings {
      @Password("authToken", service: "swift-keyring tests") var authToken: String?
    }
    let settings = Settings()
    settings.authToken = "s3cret"
    #expect(settings.authToken == "s3cret")
    #expect(try SecureProperties(of: settings).removeAll().count == 1)
  }

  /// Without an entitlement, a Mac has none either.
  ///
  /// With one, the test would write into the user's.
  @Test func `a program without a keychain uses the next storage`() throws {
    let keychain = AppleKeychainStorage(.dataProtection())
    guard keychain.diagnose().failure?.code == .noStorage else { return }
    let memory = InMemoryStorage()
    let storage = FirstAvailableStorage([keychain, memory], remembering: .nowhere)
    let key = ItemKey.password(service: "swift-keyring tests", account: "account")
    try storage.setPassword("s3cret", for: key)
    #expect(try memory.password(for: key) == "s3cret")
  }
}
