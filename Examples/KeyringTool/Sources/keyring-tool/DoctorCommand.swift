import ArgumentParser
import Keyring
import KeyringToolCommands

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say whether the keyring works here, and what to do if it does not.",
    discussion: """
      A line for each thing that was looked at: "ok", "notice" for what is worth knowing, or \
      "failure" for what keeps secrets from being stored. Nobody is asked anything.

      Exit status: 0 when secrets can be stored, perhaps after the keyring has asked the user, as far \
      as that is seen without --write; \
      2 when the keyring is locked and cannot ask; 1 when secrets cannot be stored for any other \
      reason; 64 when the options make no sense.
      """)

  @OptionGroup var storage: StorageOptions

  @Flag(help: "Also store an item, read it and remove it again.")
  var write = false

  @Flag(help: "One JSON object instead of lines.")
  var json = false

  func run() throws {
    let report = DoctorReport(storage.storage.diagnose(writing: write))
    try Terminal.print(json ? [report.json()] : report.lines)
    if report.status != 0 { throw ExitCode(report.status) }
  }
}
