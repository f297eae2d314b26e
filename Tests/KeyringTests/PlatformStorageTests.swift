// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import TestPrograms
import Testing

@testable import Keyring

struct PlatformStorageTests {
  @Test(arguments: [true, false])
  func `a missing default storage says what to add`(hasKeychain: Bool) throws {
    let storage = FirstAvailableStorage(
      [PlatformStorage.missing("A storage", hasKeychain: hasKeychain)], remembering: .nowhere)
    let error = expectError(.noStorage) {
      try storage.password(for: .password(service: "service", account: "account"))
    }
    let text = "\(error?.message ?? "") \(error?.recoverySuggestion ?? "")"
    #expect(text.contains("KeyringApple") == hasKeychain, "\(text)")
    #expect(text.contains("AppleKeychainStorage()") == hasKeychain, "\(text)")
  }
}
