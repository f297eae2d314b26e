// SPDX-License-Identifier: Apache-2.0

internal import KeyringFoundation
internal import KeyringStorage

extension SecureStorage {
  /// Returns whether another storage is the same: an item that is briefly saved in one is found in the other.
  func sharesItems(with other: any SecureStorage) throws(SecureStorageError) -> Bool {
    let service = "swift-keyring migration"
    let key = ItemKey.value(service: service, account: .randomToken())
    try save(SecureItem(key: key, secret: Secret("")), mode: .add)
    let isFound = Result { () throws(SecureStorageError) in try other.exists(key) }
    let isThere = Result { () throws(SecureStorageError) in try exists(key) }
    try remove(key)
    // A killed program may have left an item behind. A newer one may belong to a migration that is running.
    var leftovers = ItemQuery.service(service, kind: .value)
    leftovers.modified = .distantPast...Date(timeIntervalSinceNow: -3600)
    try removeItems(matching: leftovers)
    if try isFound.get() { return true }
    if try isThere.get() { return false }
    throw SecureStorageError(
      .verificationFailed, operation: .migrate, backendName: backendName,
      message: "A stored item is missing.")
  }
}
