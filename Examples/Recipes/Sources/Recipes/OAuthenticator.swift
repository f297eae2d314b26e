// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import OAuthenticator

extension LoginStorage {
  /// Returns the login of an account, in the app's current storage.
  static func keyring(_ account: String) -> LoginStorage {
    let login = StoredValue(account, as: ItemCoding<Login>.value())
    return LoginStorage {
      try await login.read()
    } storeLogin: {
      try await login.write($0)
    }
  }
}
