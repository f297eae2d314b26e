// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import KeyringTesting
import Testing

/// The promises of the package that the private session's provider can't keep: rows of the article Providers.md.
enum KnownLimitation {
  enum Promise: CustomStringConvertible {
    case rule(StorageContract)
    case sessionCollection
    /// An item that's found at every moment while several threads or programs rewrite it.
    case rewrittenItemsAreFound
    /// A write that's still there after the keyring has crashed.
    case crashSafety

    /// The promise as the article names it.
    var description: String {
      switch self {
      case .rule(let rule): "rule \(rule.rule), `\(rule.rawValue)`"
      case .sessionCollection: "a collection that is deleted at logout"
      case .rewrittenItemsAreFound: "rule 9 while many programs rewrite one item"
      case .crashSafety: "rule 13 after a crash of the keyring"
      }
    }
  }

  /// The reasons in the article's rows about the provider, by the promise.
  static let reasons: [String: Comment] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let path = root.appending(path: "Sources/Keyring/Documentation.docc/Providers.md").path
    let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
    let table = lines.drop { $0 != "| provider | promise | why not |" }
      .prefix { $0.hasPrefix("|") }
    let rows = table.map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }.filter { $0[0] == Provider.current.rawValue }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[1], Comment(rawValue: $0[2])) })
  }()

  /// Returns the reason why the provider can't keep a promise, or `nil` if it can.
  static func reason(_ promise: Promise) -> Comment? { reasons["\(promise)"] }

  /// Runs a closure that tests a rule of the contract.
  ///
  /// A provider that is known to break the rule must break it. Otherwise the list would outlive a
  /// limitation.
  static func verify(_ rule: StorageContract, _ body: () throws -> Void) throws {
    guard let reason = reason(.rule(rule)) else { return try body() }
    withKnownIssue(reason) { try body() }
  }
}
#endif
