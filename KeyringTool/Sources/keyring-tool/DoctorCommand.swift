// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check whether the storage works, and suggest what to do if it doesn't.",
    discussion: """
      The command prints a line for each finding. The line starts with "ok", with "notice" if the \
      finding is worth knowing, or with "failure" if it prevents secrets from being stored. The command \
      doesn't ask the user anything.

      The exit status is 0 if secrets can be stored, possibly after the keyring has asked the user. \
      Without --write, the command stores nothing, so it can't be sure of this.
      """)

  @OptionGroup var storage: StorageOptions

  @Flag(help: "Also store an item, read it, and remove it again.")
  var write = false

  @Flag(help: "Print one JSON object instead of lines.")
  var json = false

  func run() throws {
    var diagnosis = try storage.selected().diagnose(writing: write)
    diagnosis.addProviderVersion()
    let report = DoctorReport(diagnosis)
    try Terminal.print(json ? [report.json()] : report.lines)
    if let status = report.status { throw ExitCode(status.rawValue) }
  }
}
