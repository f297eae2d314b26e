import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs only where no keyring but that of `Scripts/private-session` can be reached.
  static var inPrivateSession: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["KEYRING_TEST_WITNESS"] != nil,
      "no private session: run .ci/keyring-tool")
  }

  /// Runs only where a program is installed.
  static func needs(_ program: String) -> Self {
    .enabled(if: Program.isInstalled(program), "the program \"\(program)\" is not installed")
  }
}
