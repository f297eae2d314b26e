// SPDX-License-Identifier: Apache-2.0

import Keyring

/// Reads one password, and exits.
@main struct ColdStart {
  @Password("account-0", service: "swift-keyring-benchmark") var password: String?

  static func main() throws {
    print(try ColdStart().$password.read() ?? "no such password")
  }
}
