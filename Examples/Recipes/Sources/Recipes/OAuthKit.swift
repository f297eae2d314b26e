// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import OAuthKit

extension Keychain {
  /// OAuthKit's tokens, with a service of their own: `clear` leaves the app's other items.
  struct LinuxStorage: Storage {
    let account: String

    private var items: ServiceScope {
      SecureStorageDefaults.currentStorage.service("\(account).OAuthKit")
    }

    var keys: [String] { (try? items.names(of: .value)) ?? [] }

    func set(_ data: Data, for key: String) throws -> Bool {
      try item(accountKey(key)).write(data)
      return true
    }

    func get(key: String) throws -> Data? { try item(accountKey(key)).read() }

    func delete(key: String) -> Bool { (try? item(key).remove()) ?? false }

    func clear() -> Bool { (try? items.removeAll()) != nil }

    private func item(_ name: String) -> StoredValue<Data> { items.value(name) }
  }
}
