// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension SecureStorage {
  /// Returns `true` if another storage is the same: an item that is briefly saved in one is found in the other.
  func sharesItems(with other: any SecureStorage) throws(SecureStorageError) -> Bool {
    let key = ItemKey.value(service: "swift-keyring migration", account: .randomToken())
    try save(SecureItem(key: key, secret: Secret("")), mode: .add)
    let isFound = Result { () throws(SecureStorageError) in try other.exists(key) }
    let isThere = Result { () throws(SecureStorageError) in try exists(key) }
    try remove(key)
    if try isFound.get() { return true }
    if try isThere.get() { return false }
    throw error(
      .verificationFailed, during: .migrate,
      message: "The item that was stored as a test is missing.")
  }
}
