import ArgumentParser
import Keyring
import KeyringStorage
import KeyringToolCommands

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a secret from standard input or from a prompt.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Option(help: "The login of a credential. It isn't encrypted.")
  var login: String?

  @Option(help: "The name that keyring managers show.")
  var label: String?

  @Flag(help: "Store every byte of standard input, including a newline at the end.")
  var binary = false

  @Flag(help: "Fail if the item already exists.")
  var add = false

  func validate() throws {
    if (item.credential == nil) != (login == nil) {
      throw ValidationError("Specify --credential and --login together.")
    }
  }

  func run() throws {
    let selection = item.selection()
    // Check the selection before asking a person for a secret.
    _ = try selection.key()
    try ItemCommands(storage.selected()).set(
      Terminal.readSecret(isBinary: binary), for: selection, login: login, label: label,
      mode: add ? .add : .addOrReplace)
  }
}
