// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import KeyringToolCommands

/// A command that holds a provider of the Secret Service to the contract of storages.
@main
struct KeyringContract: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyring-contract",
    abstract: "Hold a provider of the Secret Service to the rules that programs rely on.",
    discussion: """
      After "--", specify the command that starts your provider. It gets an empty home directory and a message bus of \
      its own from Scripts/contract. Its standard input is a password, without a line break. It must have a default \
      collection that opens without a question or with this password, and is started again after each kill.

      With --collection, the command uses the keyring that is running. It locks, kills and restarts nothing, and \
      removes what it has stored.

      For each rule, the command prints "kept", "broken" with what the provider did, or "left out" with the reason. \
      The exit status is 0 if no rule is broken, and 1 if one is.

      With --table, the command reads what it has printed with --json, from a file for each provider.
      """)

  @Option(help: "Use this collection of the keyring that is running.")
  var collection: String?

  @Option(
    help:
      "Verify only this rule, for example \"bytesComeBack\". Repeat the option for more of them.",
    transform: { name in
      if let rule = StorageContract(rawValue: name) { return rule }
      throw ValidationError("There is no rule \(name).")
    })
  var rule: [StorageContract] = []

  @Flag(help: "Print a JSON array instead of lines.")
  var json = false

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Print a table of these JSON files.", valueName: "file"))
  var table: [String] = []

  @Argument(parsing: .postTerminator, help: "The command that starts the provider.")
  var command: [String] = []

  func validate() throws {
    let ways = [!table.isEmpty, collection != nil, !command.isEmpty]
    if ways.count(where: \.self) != 1 {
      throw ValidationError("Specify --collection, --table or, after \"--\", a command.")
    }
  }

  func run() throws {
    if !table.isEmpty { return try write(RuleReport.table(table), to: .standardOutput) }
    do {
      let reports = try collection.map(reports) ?? reportsOfOwnProvider()
      if json { try write(RuleReport.json(reports), to: .standardOutput) }
      if reports.contains(where: { $0.result == .broken }) {
        throw ExitCode(ToolStatus.failed.rawValue)
      }
    } catch let error as SecureStorageError {
      throw failure(
        ToolFailure(
          error.message, recoverySuggestion: error.recoverySuggestion ?? "",
          status: ToolStatus(error)))
    } catch let error as ToolFailure {
      throw failure(error)
    }
  }

  private func failure(_ error: ToolFailure) -> ExitCode {
    try? write("keyring-contract: \(error)", to: .standardError)
    return ExitCode(error.status.rawValue)
  }

  /// Verifies the rules that kill and lock nothing, and create no collection.
  private func reports(of collection: String) throws -> [RuleReport] {
    let storage = SecretServiceStorage(collection: .named(collection))
    if try storage.isLocked() {
      throw ToolFailure(
        "The collection is locked.", recoverySuggestion: "Unlock it first.", status: .locked)
    }
    return try selected(StorageContract.disturbingNothing).map { rule in
      try show(RuleReport(rule) { try rule.verify(storage) })
    }
  }

  private func reportsOfOwnProvider() throws -> [RuleReport] {
    let provider = try OwnProvider(command)
    defer { provider.end(.kill) }
    try provider.start()
    var trial = ProviderTrial(provider)
    var reports: [RuleReport] = []
    for rule in selected(StorageContract.cases(for: SecretServiceStorage.self)) {
      do {
        reports += try trial.reports(on: rule).map(show)
      } catch let failure as ToolFailure {
        // It doesn't start again.
        return reports + [try show(RuleReport(rule) { throw failure })]
      }
    }
    return reports
  }

  private func selected(_ rules: [StorageContract]) -> [StorageContract] {
    rules.filter { rule.isEmpty || rule.contains($0) }
  }

  private func show(_ report: RuleReport) throws -> RuleReport {
    if !json { try write(report.lines.joined(separator: "\n"), to: .standardOutput) }
    return report
  }

  private func write(_ text: String, to file: FileHandle) throws {
    try file.write(contentsOf: Data("\(text)\n".utf8))
  }
}
