// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import FoundationEssentials
import Testing

/// The D-Bus session that `Scripts/test` starts.
enum PrivateSession {
  static let isOnKWallet =
    ProcessInfo.processInfo.environment["KEYRING_TEST_PROVIDER"] == "kwallet"
}

extension Trait where Self == ConditionTrait {
  /// Skips the test outside the D-Bus session that `Scripts/test` starts, and gives the reason.
  static var inPrivateSession: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["KEYRING_TEST_WITNESS"] != nil,
      "no private session: run Scripts/test, so that your own keyring is left alone")
  }
}
#endif
