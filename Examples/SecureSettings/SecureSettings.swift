import Keyring

/// The secrets of an app, declared like any other setting.
struct SecureSettings {
  @Credentials("account") var account: Credential?
  @Credentials("subAccount") var subAccount: Credential?
  @Password("authToken") var authToken: String?
  @Password("refreshToken") var refreshToken: String?

  /// Forgets everything, as when the user signs out.
  func clear() throws(SecureStorageError) {
    try $account.remove()
    try $subAccount.remove()
    try $authToken.remove()
    try $refreshToken.remove()
  }

  /// What went wrong with the assignments so far, if anything did.
  var failures: [SecureStorageError] {
    [$account.failure, $subAccount.failure, $authToken.failure, $refreshToken.failure]
      .compactMap(\.self)
  }
}
