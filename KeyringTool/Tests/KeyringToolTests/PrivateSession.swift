// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Enables a test only if no keyring except that of `Scripts/private-session` can be reached.
  static var inPrivateSession: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["KEYRING_TEST_WITNESS"] != nil,
      "no private session: run .ci/check-keyring-tool")
  }

  /// Enables a test only if a program is installed.
  static func needs(_ program: String) -> Self {
    .enabled(if: Program.isInstalled(program), "the program \"\(program)\" is not installed")
  }
}
