// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Enables a test only with the screen and the keyring of `.ci/check-sign-in`.
  static var onPrivateScreen: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["KEYRING_TEST_PROMPTER"] != nil,
      "no private session and no screen: run .ci/check-sign-in")
  }
}
