// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage

/// A storage that changes or refuses items when it saves them.
struct AlteringStorage: BlockingStorage {
  let base: InMemoryStorage
  var secretByteLimit = ItemLimits.secretBytes
  var whenSaving: @Sendable (inout SecureItem) -> Void = { _ in }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    var item = item
    whenSaving(&item)
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try base.removeItems(matching: query)
  }
}
