// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

/// An empty storage that can't be locked, and reports no changes.
struct SilentStorage: BlockingStorage {
  func save(_ item: SecureItem, mode: SaveMode) {}
  func items(matching query: ItemQuery) -> [SecureItem] { [] }
  func removeItems(matching query: ItemQuery) -> Int { 0 }
}
