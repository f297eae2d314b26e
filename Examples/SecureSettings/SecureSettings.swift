// SPDX-License-Identifier: Apache-2.0

import Keyring

/// The secrets of an app, declared like any other setting.
struct SecureSettings {
  @Credentials("account") var account: Credential?
  @Credentials("subAccount") var subAccount: Credential?
  @Password("authToken") var authToken: String?
  @Password("refreshToken") var refreshToken: String?

  /// Removes all secrets, for example when the user signs out.
  func clear() throws(SecureStorageError) {
    try $account.remove()
    try $subAccount.remove()
    try $authToken.remove()
    try $refreshToken.remove()
  }

  /// The errors of the properties, if there are any.
  var failures: [SecureStorageError] {
    [$account.failure, $subAccount.failure, $authToken.failure, $refreshToken.failure]
      .compactMap(\.self)
  }
}
