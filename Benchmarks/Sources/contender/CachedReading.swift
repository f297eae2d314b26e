// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Reads a value of the keyring that is in the cache.
struct CachedRead: Work {
  private let storage: CachedStorage<SecretServiceStorage>
  private let key = Sample.key(0)
  private var found: String?

  init() throws {
    storage = Sample.storage().cached()
    // The first read starts the observation of the keyring, and its value is kept in the cache.
    _ = try storage.password(for: key)
  }

  var usesPerOperation: Int { 1_000 }
  mutating func perform() throws { for _ in 0..<1_000 { found = try storage.password(for: key) } }
  func check() throws { try Sample.check(found) }
}
