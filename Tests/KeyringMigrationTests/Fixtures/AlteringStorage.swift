// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import TestPrograms

/// A storage that changes items when it saves or reads them.
struct AlteringStorage: BlockingStorage, ForwardingStorage {
  let base: InMemoryStorage
  var whenSaving: @Sendable (inout SecureItem) -> Void = { _ in }
  var whenReading: @Sendable (inout SecureItem) -> Void = { _ in }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    var item = item
    whenSaving(&item)
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try base.items(matching: query).map { item in
      var item = item
      whenReading(&item)
      return item
    }
  }
}
