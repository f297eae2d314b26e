// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage

/// A storage that changes or refuses items when it saves them, or has some of another program.
struct AlteringStorage: BlockingStorage {
  let base: InMemoryStorage
  var secretByteLimit = ItemLimits.secretBytes
  /// The keys of the items that are another program's own.
  var foreign: Set<ItemKey> = []
  var whenSaving: @Sendable (inout SecureItem) -> Void = { _ in }
  /// A closure that runs after each read.
  var afterReading: @Sendable (ItemQuery) -> Void = { _ in }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    var item = item
    whenSaving(&item)
    try base.save(item, mode: mode)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    defer { afterReading(query) }
    return try base.items(matching: query).map { item in
      var item = item
      item.isForeign = foreign.contains(item.key)
      return item
    }
    .filter { !query.leavesForeignItems || !$0.isForeign }
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    var count = 0
    for item in try items(matching: query) {
      count += try base.removeItems(matching: .key(item.key))
    }
    return count
  }
}
