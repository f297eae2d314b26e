// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The own items of a service as environment variables, whose names are the accounts.
public struct ServiceVariables: Sendable {
  /// The secrets by name.
  public private(set) var secrets: [String: Secret] = [:]
  /// The names of the items that can't be variables, with the reasons.
  public private(set) var left: [String] = []

  /// Reads the items of a service.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - others: The names of variables that are set otherwise.
  ///   - storage: The storage of the items.
  /// - Throws: ``ToolFailure`` if there is no such item, or if two have the same account; `SecureStorageError` if the
  ///   storage can't be read.
  public init(of service: String, besides others: [String], in storage: any SecureStorage) throws {
    var query = try ItemSelection(service: service).query()
    query.details = .metadata
    var keys: [String: ItemKey] = [:]
    let others = Set(others)
    for item in try storage.items(matching: query) {
      if let reason = Self.problem(of: item, others) {
        leave(item.key, reason)
      } else if let account = item.key.account, keys.updateValue(item.key, forKey: account) != nil {
        throw ToolFailure(
          "Two items of the service have the account \(account).",
          recoverySuggestion: "Name one of them in a file for --env-file.", status: .ambiguous)
      }
    }
    let found = try storage.items(for: Array(keys.values), details: .secret)
    for (name, key) in keys {
      guard let secret = found[key]?.secret else { continue }
      if secret.text?.utf8.contains(0) == false {
        secrets[name] = secret
      } else {
        leave(key, "isn't text")
      }
    }
    left.sort()
    if secrets.isEmpty {
      throw ToolFailure(
        "The service has no item that can be a variable.",
        recoverySuggestion: left.isEmpty
          ? "Use the command \"list\" to list all items."
          : "There is: \(left.joined(separator: ", ")).",
        status: .notFound)
    }
  }

  private mutating func leave(_ key: ItemKey, _ reason: String) {
    left.append("\((key.account ?? key.label ?? key.description).printable) (\(reason))")
  }

  /// Returns the reason why an item can't be a variable, or `nil` if it can.
  private static func problem(of item: SecureItem, _ others: Set<String>) -> String? {
    if item.isForeign { return "another program's" }
    if item.key.kind == .credentials { return "a credential" }
    guard let account = item.key.account, isName(account) else { return "no name of a variable" }
    return others.contains(account) ? "set by another option" : nil
  }

  /// Returns `true` if a text can be the name of an environment variable of a shell.
  public static func isName(_ text: String) -> Bool {
    guard let first = text.first, !first.isNumber else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
