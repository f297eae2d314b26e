// SPDX-License-Identifier: Apache-2.0

import Keyring

/// The secrets of the app.
struct SecureSettings {
  @Credentials("account") var account: Credential?
  @Password("token") var token: String?
}
