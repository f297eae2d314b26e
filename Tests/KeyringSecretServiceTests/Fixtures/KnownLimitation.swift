#if SecretService && os(Linux)
import KeyringTesting
import Testing

/// What the package promises and a provider cannot keep.
///
/// The article Providers.md shows this list, and a test sees to it.
struct KnownLimitation {
  enum Promise: Equatable, CustomStringConvertible {
    case rule(StorageContract)
    case sessionCollection
    /// That an item is found at every moment while several threads or programs rewrite it.
    case rewrittenItemsAreFound
    /// A rule that nothing tests, because it takes a crash of the keyring.
    case crashSafety

    var description: String {
      switch self {
      case .rule(let rule): "rule \(rule.rule), `\(rule.rawValue)`"
      case .sessionCollection: "a collection that is forgotten at log-out"
      case .rewrittenItemsAreFound: "rule 9 for readers of one item that many rewrite at once"
      case .crashSafety: "rule 3 after a crash of the keyring"
      }
    }
  }

  let provider: Provider
  let promise: Promise
  /// Why, in a sentence.
  let reason: String

  static let all = [
    KnownLimitation(
      provider: .kwallet, promise: .rule(.collectionsAreApart),
      reason: "It makes a collection only in a window of its own, which wants a person."),
    KnownLimitation(
      provider: .kwallet, promise: .rule(.byteOrderMarksAreKept),
      reason: "It takes a byte order mark off the start of every attribute."),
    KnownLimitation(
      provider: .kwallet, promise: .sessionCollection,
      reason: "It has none, and says so: `.collectionNotFound`."),
    KnownLimitation(
      provider: .kwallet, promise: .rewrittenItemsAreFound,
      reason: "Now and then a search finds nothing for a moment; what was written is there."),
    KnownLimitation(
      provider: .kwallet, promise: .crashSafety,
      reason: "It writes secrets up to five seconds late, and their attributes at once."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.collectionsAreApart),
      reason: "It makes a collection only in a window of its own, which wants a person."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.byteOrderMarksAreKept),
      reason: "It takes a byte order mark off the start of every attribute."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.changesAreReportedOnce),
      reason: "It reports no change when a secret is saved again as it was."),
    KnownLimitation(
      provider: .keepassxc, promise: .crashSafety,
      reason: "It writes its file a moment after a change, and crashes if an item changes then."),
    KnownLimitation(
      provider: .keepassxc, promise: .sessionCollection,
      reason: "It has none, and says so: `.collectionNotFound`."),
  ]

  /// The line of the article that tells of the limit.
  var line: String { "| \(provider.rawValue) | \(promise) | \(reason) |" }

  /// What keeps the provider of the private session from keeping a promise, if anything does.
  static func of(_ promise: Promise) -> KnownLimitation? {
    all.first { $0.provider == .current && $0.promise == promise }
  }

  /// Runs what puts a storage through a case of the contract.
  ///
  /// Where the provider is known to break it, it must: the list shall not outlive a limit.
  static func verify(_ rule: StorageContract, _ body: () throws -> Void) throws {
    guard let limit = of(.rule(rule)) else { return try body() }
    withKnownIssue(Comment(rawValue: limit.reason)) { try body() }
  }
}
#endif
