// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import KeyringToolCommands

/// The trial of a provider that may be locked, killed and restarted.
struct ProviderTrial {
  private let provider: OwnProvider
  /// The default collection, which stays locked because nobody is asked.
  private let silent = SecretServiceStorage(interaction: .never)
  private lazy var reasonAgainstCreating = reasonAgainst("creates a collection") {
    try silent.createCollection(labeled: "swift-keyring-contract")
    try silent.deleteCollection(labeled: "swift-keyring-contract")
  }
  private lazy var reasonAgainstLocking = reasonAgainst("locks and unlocks its collection") {
    try silent.lock()
    try provider.unlock()
  }

  init(_ provider: OwnProvider) { self.provider = provider }

  /// Verifies a case of the contract, possibly in several ways.
  ///
  /// - Throws: A `ToolFailure` if the provider can't be used any more.
  mutating func reports(on rule: StorageContract) throws(ToolFailure) -> [RuleReport] {
    try provider.makeUsable()
    if StorageContract.disturbingNothing.contains(rule) {
      return [RuleReport(rule) { try rule.verify(provider.storage) }]
    }
    if rule.restarts {
      let reports = StorageContract.Ending.allCases.map { ending in
        RuleReport(rule, ", \(ending)") { try verify(rule, ending) }
      }
      guard rule == .newItemsAreDurable else { return reports }
      return reports
        + [RuleReport(rule, ", kill during writes") { try KilledWriters(provider).verify() }]
    }
    let reason = rule == .collectionsAreApart ? reasonAgainstCreating : reasonAgainstLocking
    if let reason { return [RuleReport(rule, leftOut: reason)] }
    return [RuleReport(rule) { try rule.verify(silent) { [provider] _ in try provider.unlock() } }]
  }

  private func verify(_ rule: StorageContract, _ ending: StorageContract.Ending) throws {
    try rule.verify(
      provider.storage,
      restart: { _ in
        try provider.restart(after: ending)
        return provider.storage
      })
  }

  /// The reason why the provider can't do something, if it takes a user.
  private func reasonAgainst(_ action: String, _ body: () throws -> Void) -> String? {
    do {
      try body()
    } catch let error as SecureStorageError
      where [.locked, .timedOut, .userCanceled].contains(error.code)
    {
      return "The provider \(action) only if a user agrees."
    } catch {}
    return nil
  }
}

extension StorageContract {
  /// The cases that kill and lock nothing, and create no collection.
  static let disturbingNothing = cases(for: FaultyStorage.self).filter { !$0.restarts }

  /// Whether the case restarts the provider.
  var restarts: Bool { rule == 13 }
}
