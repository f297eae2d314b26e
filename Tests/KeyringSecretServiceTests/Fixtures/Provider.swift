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

  /// The last part of the default collection's path.
  var defaultCollection: String {
    switch self {
    case .gnomeKeyring: "login"
    case .kwallet: "kdewallet"
    case .keepassxc: "secrets"
    }
  }

  /// The program that provides it, as the diagnosis names it.
  var program: String {
    switch self {
    case .gnomeKeyring: "gnome-keyring-daemon"
    case .kwallet: "kwalletd5, process"
    case .keepassxc: "keepassxc, process"
    }
  }

  /// The attributes that it adds to every item.
  var addedAttributes: Set<String> {
    switch self {
    case .gnomeKeyring, .kwallet: []
    case .keepassxc: ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
    }
  }

  /// Whether an item whose login was changed stays until the next save, unseen: the new one may not be on
  /// disk yet.
  var keepsReplacedItems: Bool { self == .kwallet }

  /// Where a test keeps what need not outlive it.
  var fastestCollection: SecretServiceStorage.Collection {
    KnownLimitation.of(.sessionCollection) == nil ? .session : .default
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test, and says why, where the keyring has no collection that is forgotten at log-out.
  static var withSessionCollection: Self {
    let limit = KnownLimitation.of(.sessionCollection)
    return .enabled(if: limit == nil, limit.map { Comment(rawValue: $0.reason) })
  }

  /// Skips the test, and says why, on other providers.
  static func only(on provider: Provider, _ reason: Comment) -> Self {
    .enabled(if: Provider.current == provider, reason)
  }
}
#endif
