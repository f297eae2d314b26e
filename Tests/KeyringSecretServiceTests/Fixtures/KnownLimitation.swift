// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import KeyringTesting
import Testing

/// A promise of the package that a provider can't keep.
///
/// The article Providers.md shows the list of them, and a test compares the two.
struct KnownLimitation {
  enum Promise: Equatable, CustomStringConvertible {
    case rule(StorageContract)
    case sessionCollection
    /// An item that's found at every moment while several threads or programs rewrite it.
    case rewrittenItemsAreFound
    /// A write that's still there after the keyring has crashed.
    case crashSafety

    var description: String {
      switch self {
      case .rule(let rule): "rule \(rule.rule), `\(rule.rawValue)`"
      case .sessionCollection: "a collection that is deleted at logout"
      case .rewrittenItemsAreFound: "rule 9 while many programs rewrite one item"
      case .crashSafety: "rule 13 after a crash of the keyring"
      }
    }
  }

  let provider: Provider
  let promise: Promise
  /// The reason, as a sentence.
  let reason: String

  static let all = [
    KnownLimitation(
      provider: .kwallet, promise: .rule(.collectionsAreApart),
      reason: "It creates a collection only in its own window, which needs the user."),
    KnownLimitation(
      provider: .kwallet, promise: .rule(.byteOrderMarksAreKept),
      reason: "It removes a byte order mark from the start of every attribute."),
    KnownLimitation(
      provider: .kwallet, promise: .sessionCollection,
      reason: "It has none. The error is `.collectionNotFound`."),
    KnownLimitation(
      provider: .kwallet, promise: .rewrittenItemsAreFound,
      reason: "A search sometimes finds nothing for a moment. The item is still there."),
    KnownLimitation(
      provider: .kwallet, promise: .crashSafety,
      reason: "After a crash or a logout, it has lost what was written since it was last quiet."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.collectionsAreApart),
      reason: "It creates a collection only in its own window, which needs the user."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.byteOrderMarksAreKept),
      reason: "It removes a byte order mark from the start of every attribute."),
    KnownLimitation(
      provider: .keepassxc, promise: .rule(.changesAreReportedOnce),
      reason: "It reports no change when a secret is saved again unchanged."),
    KnownLimitation(
      provider: .keepassxc, promise: .crashSafety,
      reason: "It writes its file later, and crashes if an item changes then."),
    KnownLimitation(
      provider: .keepassxc, promise: .sessionCollection,
      reason: "It has none. The error is `.collectionNotFound`."),
  ]

  /// The line about the limitation in the article.
  var line: String { "| \(provider.rawValue) | \(promise) | \(reason) |" }

  /// Returns the limitation of the private session's provider that concerns a promise, if any.
  static func of(_ promise: Promise) -> KnownLimitation? {
    all.first { $0.provider == .current && $0.promise == promise }
  }

  /// Runs a closure that tests a rule of the contract.
  ///
  /// A provider that is known to break the rule must break it. Otherwise the list would outlive a
  /// limitation.
  static func verify(_ rule: StorageContract, _ body: () throws -> Void) throws {
    guard let limit = of(.rule(rule)) else { return try body() }
    withKnownIssue(Comment(rawValue: limit.reason)) { try body() }
  }
}
#endif
