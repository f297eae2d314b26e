// SPDX-License-Identifier: Apache-2.0

#if canImport(Security) && !os(Linux)
import KeyringApple
import KeyringStorage
import KeyringTesting
import Testing

/// The first tests to run on a Mac and in a simulator, on the real keychains.
@Suite(.serialized) struct AppleDeviceTests {
  static let rules = StorageContract.cases(for: AppleKeychainStorage.self)

  #if os(macOS)
  @Test(arguments: rules)
  func `the file-based keychain keeps the contract`(rule: StorageContract) throws {
    let storage = { @Sendable in AppleKeychainStorage(.fileBased) }
    try rule.verify(storage(), restart: { _ in storage() })
  }
  #endif

  /// With an entitlement, the contract; a test without a host app has none, and nothing reads as absent.
  @Test(arguments: rules)
  func `the data protection keychain keeps the contract`(rule: StorageContract) throws {
    let storage = { @Sendable in AppleKeychainStorage(.dataProtection()) }
    guard storage().diagnose().failure?.code == .noStorage else {
      // The case for several groups needs groups that the test isn't entitled to.
      if rule == .accessGroupsAreApart { return }
      return try rule.verify(storage(), restart: { _ in storage() })
    }
    let error = #expect(throws: SecureStorageError.self) {
      try storage().items(matching: ItemQuery())
    }
    #expect(error?.code == .noStorage)
    #expect(error?.underlying?.code == -34018)
  }
}
#endif
