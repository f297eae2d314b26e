// SPDX-License-Identifier: Apache-2.0

import Keyring

/// The secrets of the service, which are the same on every machine of the fleet.
struct SecureSettings {
  @Password("apiToken") var apiToken: String?
  @Credentials("database") var database: Credential?
}
