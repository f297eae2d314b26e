// SPDX-License-Identifier: Apache-2.0

import HuggingFace
import Keyring
import KeyringStorage

extension HuggingFaceAuthenticationManager.TokenStorage {
  /// Returns the token of an account, for swift-huggingface to store, read and delete.
  static func keyring(service: String, account: String) -> Self {
    let token = StoredValue(account, as: ItemCoding<OAuthToken>.value(), service: service)
    return Self(
      store: { try token.write($0) }, retrieve: { try token.read() },
      delete: { try token.remove() })
  }
}

extension TokenProvider {
  /// Returns an access token that the user has stored: `HubClient(tokenProvider: .keyring("huggingface"))`.
  static func keyring(_ account: String) -> Self {
    let token = Password(account)
    return .custom { try await token.read() }
  }
}
