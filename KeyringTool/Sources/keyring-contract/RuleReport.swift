// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringTesting

/// The result of a rule.
struct RuleReport: Codable {
  enum Result: String, Codable {
    case kept, broken
    case leftOut = "left out"
  }

  /// Several faults of a provider, as an error.
  struct Faults: Error { let messages: [String] }

  /// The number of the rule.
  let rule: Int
  /// The case of the rule, and possibly how the provider was ended.
  let title: String
  let result: Result
  /// The provider's faults, or the reason for leaving the rule out.
  let messages: [String]

  /// Creates the report on a rule that is left out.
  init(_ rule: StorageContract, leftOut reason: String) {
    (self.rule, title, result, messages) = (rule.rule, rule.rawValue, .leftOut, [reason])
  }

  /// Verifies a rule, and creates the report on it.
  init(_ rule: StorageContract, _ addition: String = "", verify: () throws -> Void) {
    (self.rule, title) = (rule.rule, rule.rawValue + addition)
    do {
      try verify()
      (result, messages) = (.kept, [])
    } catch let violation as ContractViolation {
      (result, messages) = (.broken, [violation.finding])
    } catch let faults as Faults {
      (result, messages) = (.broken, faults.messages)
    } catch {
      (result, messages) = (.broken, ["\(error)"])
    }
  }

  /// A line about the result, and one for each message.
  var lines: [String] {
    let state = result.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
    return ["\(state)  rule \(rule): \(title)"] + messages.map { "          \($0)" }
  }

  /// The reports as a JSON array.
  static func json(_ reports: [RuleReport]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(reports), as: UTF8.self)
  }

  /// Makes a Markdown table of the rules that not every provider keeps, from a JSON array in a file for each.
  static func table(_ files: [String]) throws -> String {
    let files = files.map { URL(fileURLWithPath: $0) }
    let reports = try files.map {
      try JSONDecoder().decode([RuleReport].self, from: Data(contentsOf: $0))
    }
    let names = files.map { $0.deletingPathExtension().lastPathComponent }
    var rows = [["rule"] + names]
    for first in reports.first ?? [] {
      let results = reports.map { $0.first { $0.title == first.title }?.result.rawValue ?? "" }
      if Set(results) != ["kept"] { rows.append(["\(first.rule): \(first.title)"] + results) }
    }
    var lines = rows.map { "| \($0.joined(separator: " | ")) |" }
    lines.insert("|" + String(repeating: "---|", count: rows[0].count), at: 1)
    return lines.joined(separator: "\n")
  }
}
