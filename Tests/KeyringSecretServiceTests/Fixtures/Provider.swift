// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import FoundationEssentials
import Keyring
import Testing

/// The keyring that `Scripts/test` has started in the private session.
enum Provider: String {
  case gnomeKeyring = "gnome-keyring"
  case kwallet
  case keepassxc

  static let current =
    ProcessInfo.processInfo.environment["KEYRING_TEST_PROVIDER"].flatMap(Provider.init)
    ?? .gnomeKeyring

  /// The program of KWallet, which depends on its version.
  static let kwalletProgram =
    ProcessInfo.processInfo.environment["KEYRING_TEST_PROGRAM"] ?? "kwalletd5"

  /// The last part of the default collection's path.
  var defaultCollection: String {
    switch self {
    case .gnomeKeyring: "login"
    case .kwallet: "kdewallet"
    case .keepassxc: "secrets"
    }
  }

  /// The provider's program, as a diagnosis names it.
  var program: String {
    switch self {
    case .gnomeKeyring: "gnome-keyring-daemon"
    case .kwallet: "\(Self.kwalletProgram), process"
    case .keepassxc: "keepassxc, process"
    }
  }

  /// The attributes that the provider adds to every item.
  var addedAttributes: Set<String> {
    switch self {
    case .gnomeKeyring, .kwallet: []
    case .keepassxc: ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
    }
  }

  /// Whether a change of the login leaves the old item, hidden, until the next save.
  ///
  /// The new item may not be on disk yet.
  var keepsReplacedItems: Bool { self == .kwallet }

  /// The collection for items that needn't outlive the test.
  var fastestCollection: SecretServiceStorage.Collection {
    KnownLimitation.reason(.sessionCollection) == nil ? .session : .default
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test, and gives the reason, if no collection of the keyring is deleted at logout.
  static var withSessionCollection: Self {
    let reason = KnownLimitation.reason(.sessionCollection)
    return .enabled(if: reason == nil, reason)
  }

  /// Skips a test that needs no keyring in the sessions of other keyrings, which would only repeat it.
  static var withoutKeyring: Self {
    .only(on: .gnomeKeyring, "needs no keyring, and runs with gnome-keyring")
  }

  /// Skips the test on other providers, and gives the reason.
  static func only(on provider: Provider, _ reason: Comment) -> Self {
    .enabled(if: Provider.current == provider, reason)
  }
}
#endif
