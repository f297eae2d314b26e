// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage
import KeyringToolCommands

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a secret from standard input or from a prompt.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions
  @OptionGroup var expiry: ExpiryOptions

  @Option(help: "The login of a credential. It isn't encrypted.")
  var login: String?

  @Option(help: "The name that keyring managers show.")
  var label: String?

  @Flag(
    help:
      "Store every byte of standard input, including a line end at the end and a byte order mark.")
  var binary = false

  @Flag(help: "Fail if the item already exists.")
  var add = false

  @Flag(help: "Store a secret even if it's empty.")
  var empty = false

  func validate() throws {
    try item.check(login: login)
  }

  func run() throws {
    let selection = item.selection()
    // Check the selection before asking the user for a secret.
    _ = try selection.key()
    let secret = try Terminal.readSecret(isBinary: binary)
    if secret.count == 0, !empty {
      // The program that pipes the secret in may have failed.
      throw ToolFailure("The secret is empty.", recoverySuggestion: "To store it, use --empty.")
    }
    let stored = try ItemCommands(storage.selected()).set(
      secret, for: selection, login: login, label: label, expires: expiry.expires?.date,
      mode: add ? .add : .addOrReplace, toReplace: "To replace it, leave out --add.")
    Terminal.tell("stored \(stored) in \(storage.selection.name.place)")
    if let advice = selection.adviceForGit { Terminal.complain(advice) }
  }
}
