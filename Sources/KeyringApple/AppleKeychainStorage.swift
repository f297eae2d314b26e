// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A storage in one of Apple's keychains, which keeps items where other programs and libraries find them.
///
/// On Linux it compiles, and each operation throws `.noStorage`.
///
/// ```swift
/// let storage = AppleKeychainStorage(.dataProtection(accessGroup: "TEAM1234.org.example.app"))
/// ```
public struct AppleKeychainStorage: BlockingStorage {
  /// The keychain that has the items.
  public let keychain: Keychain

  let calls: (any KeychainCalls)?
  let knowledge = KeychainKnowledge()

  /// Creates a storage.
  ///
  /// The first use looks up the keychain. The storage uses only this one.
  ///
  /// - Parameter keychain: The keychain that has the items.
  public init(_ keychain: Keychain = .standard) {
    self.init(keychain, calls: PlatformKeychain.calls)
  }

  package init(_ keychain: Keychain, calls: (any KeychainCalls)?) {
    (self.keychain, self.calls) = (keychain, calls)
  }
}
