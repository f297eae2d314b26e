// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// An item that is briefly saved in one storage to check whether it's found in another.
struct StorageProbe {
  private static let service = "swift-keyring migration"

  private let storage: any SecureStorage
  private let key: ItemKey

  init(_ storage: any SecureStorage) {
    self.storage = storage
    key = .value(
      service: Self.service, account: .randomToken())
  }

  /// Returns whether both storages are the same: an item saved in one is found in the other.
  func isFound(in other: any SecureStorage) throws(SecureStorageError) -> Bool {
    try storage.save(SecureItem(key: key, secret: Secret("")), mode: .add)
    let isFound = Result { () throws(SecureStorageError) in try other.exists(key) }
    let isThere = Result { () throws(SecureStorageError) in try storage.exists(key) }
    // This also removes items that a killed program left behind.
    try storage.removeItems(matching: .service(Self.service, kind: .value))
    if try isFound.get() { return true }
    if try isThere.get() { return false }
    throw SecureStorageError(
      .verificationFailed, operation: .migrate, backendName: storage.backendName,
      message: "A stored item is missing.")
  }
}
