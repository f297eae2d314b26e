// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringApple
import KeyringStorage
import KeyringTesting
import Testing

/// The storages of a program on a Mac, which `swift test` runs without an entitlement.
///
/// Items go to the user's default keychain, each test's to a service of its own.
@Suite(.serialized) struct AppleKeychainTests {
  #if os(macOS)
  private static let isOnMac = true
  #else
  private static let isOnMac = false
  #endif

  @Test(arguments: StorageContract.cases(for: InMemoryStorage.self))
  func `the storage in memory keeps the contract`(rule: StorageContract) throws {
    try rule.verify(InMemoryStorage())
  }

  @Test(
    .enabled(if: isOnMac, "only a Mac has a keychain"),
    arguments: StorageContract.cases(for: AppleKeychainStorage.self))
  func `the file-based keychain keeps the contract`(rule: StorageContract) throws {
    #if os(macOS)
    try rule.verify(AppleKeychainStorage(.fileBased))
    #endif
  }

  /// The keychain itself would say that there is no item.
  @Test func `without an entitlement, nothing is absent`() throws {
    let storage = AppleKeychainStorage()
    let error = #expect(throws: SecureStorageError.self) {
      try storage.password(for: .password(service: "swift-keyring tests", account: "absent"))
    }
    #expect(error?.code == .noStorage)
  }

  @Test func `a program without a keychain uses the next storage`() throws {
    let memory = InMemoryStorage()
    let storage = FirstAvailableStorage([AppleKeychainStorage(), memory], remembering: .nowhere)
    let key = ItemKey.password(service: "swift-keyring tests", account: "account")
    try storage.setPassword("s3cret", for: key)
    #expect(try memory.password(for: key) == "s3cret")
  }
}
