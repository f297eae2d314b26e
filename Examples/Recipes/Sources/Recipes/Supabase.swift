// SPDX-License-Identifier: Apache-2.0

import Auth
import Foundation
import Keyring
import KeyringStorage

/// The sessions of supabase-swift, in the app's current storage: `localStorage: KeyringAuthStorage()`.
struct KeyringAuthStorage: AuthLocalStorage {
  func store(key: String, value: Data) throws { try item(key).write(value) }
  func retrieve(key: String) throws -> Data? { try item(key).read() }
  func remove(key: String) throws { try item(key).remove() }

  private func item(_ key: String) -> StoredValue<Data> { StoredValue(key, as: .data) }
}
