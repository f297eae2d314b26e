// SPDX-License-Identifier: Apache-2.0

/// The functions of the Security framework that the storage calls.
package protocol KeychainCalls: Sendable {
  /// Calls `SecItemAdd`.
  func add(_ attributes: KeychainDictionary) -> KeychainResult
  /// Calls `SecItemCopyMatching`.
  func copyMatching(_ query: KeychainDictionary) -> KeychainResult
  /// Calls `SecItemUpdate`.
  func update(_ query: KeychainDictionary, _ changes: KeychainDictionary) -> Int32
  /// Calls `SecItemDelete`.
  func delete(_ query: KeychainDictionary) -> Int32
  /// Calls `SecKeychainGetStatus` for the default keychain in a file.
  func status() -> Int32
  /// Calls `SecCopyErrorMessageString`.
  func message(for status: Int32) -> String?
}

/// The status of a call, and the items that it returned.
package struct KeychainResult: Sendable {
  package let status: Int32
  package let items: [KeychainDictionary]

  package init(status: Int32, items: [KeychainDictionary] = []) {
    (self.status, self.items) = (status, items)
  }
}
