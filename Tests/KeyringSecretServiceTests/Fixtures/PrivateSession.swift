// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import FoundationEssentials
import Glibc
import Keyring
import Testing

/// The D-Bus session with a keyring of its own in which `Scripts/test` runs these tests.
enum PrivateSession {
  /// A name that only this session has, and that the script looks for in the keyring afterwards.
  ///
  /// Without one, the last line of the tests says what to type.
  static let witness: String? = {
    let environment = ProcessInfo.processInfo.environment
    let name = environment["KEYRING_TEST_WITNESS"]
    // The scripts that test something else set a provider.
    if name == nil, environment["KEYRING_TEST_PROVIDER"] == nil {
      atexit { print("No test of the keyring has run. Scripts/test runs them.") }
    }
    return name
  }()

  static let isMissing: Comment = """
    no private session: run Scripts/test, which starts one, so that your own keyring is left alone
    """

  /// Returns a service name that no other test uses.
  static func newService() -> String {
    "swift-keyring-test-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test outside the private session, and gives the reason.
  static var inPrivateSession: Self {
    .enabled(if: PrivateSession.witness != nil, PrivateSession.isMissing)
  }

  /// Skips the test outside the private session of gnome-keyring, and gives the reason.
  ///
  /// The test starts a bus and a keyring of its own, so other private sessions would only repeat it.
  static var withOwnKeyring: Self {
    .enabled(
      if: PrivateSession.witness != nil && Provider.current == .gnomeKeyring,
      PrivateSession.witness == nil
        ? PrivateSession.isMissing : "has a keyring of its own, and runs in gnome-keyring's session"
    )
  }
}
#endif
