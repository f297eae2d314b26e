// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Store a random password.",
    discussion: """
      The password consists of letters and digits. The command doesn't print it. If there is an item already, \
      the command fails, unless you specify --replace.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions
  @OptionGroup var expiry: ExpiryOptions

  @Option(help: "The number of characters, each of which has almost 6 bits.")
  var length = 32

  @Option(help: "The login of a credential. It isn't encrypted.")
  var login: String?

  @Flag(help: "Replace the secret of an item that is there.")
  var replace = false

  func validate() throws {
    try item.check(login: login)
    guard (8...1024).contains(length) else {
      throw ValidationError("Specify a --length from 8 to 1024.")
    }
    // In pass, the length follows the name.
    if let number = item.accountArgument.flatMap({ Int($0) }), (1...1024).contains(number) {
      throw ValidationError(
        "The second argument is the account. For a length, use --length \(number), or --account \(number)."
      )
    }
  }

  func run() throws {
    let stored = try ItemCommands(storage.selected()).set(
      SecretText.generated(length: length), for: item.selection(), login: login,
      expires: expiry.expires?.date,
      mode: replace ? .addOrReplace : .add, toReplace: "To replace it, use --replace.")
    Terminal.tell("stored \(stored) in \(storage.selection.name.place)")
    if let advice = item.selection().adviceForGit { Terminal.complain(advice) }
  }
}
