// SPDX-License-Identifier: Apache-2.0

import Keyring

/// The settings of an app, as its tests find them.
struct Settings {
  @Credentials("account") var account: Credential?
  @Password("authToken") var authToken: String?
  @Password("shared", service: "another service") var shared: String?

  func clear() { (account, authToken) = (nil, nil) }
}

/// Handles a failed assignment that a test expects, which would be printed otherwise.
@Sendable func ignore(_ failure: SecurePropertyFailure) {}
