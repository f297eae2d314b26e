import ArgumentParser
import Keyring
import KeyringToolCommands

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a secret, read from standard input or asked for.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Option(help: "The login that goes with a credential; it is stored in the clear.")
  var login: String?

  @Option(help: "The name that keyring managers show.")
  var label: String?

  @Flag(help: "Store every byte of standard input, the newline at its end too.")
  var binary = false

  @Flag(help: "Fail when there is such an item already.")
  var add = false

  func validate() throws {
    if (item.credential == nil) != (login == nil) {
      throw ValidationError("--credential and --login go together.")
    }
  }

  func run() throws {
    let selection = item.selection()
    // Check the selection before asking a person for a secret.
    _ = try selection.key()
    try ItemCommands(storage.storage).set(
      Terminal.readSecret(isBinary: binary), for: selection, login: login, label: label,
      mode: add ? .add : .addOrReplace)
  }
}
