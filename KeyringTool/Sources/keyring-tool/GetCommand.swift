// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the secret of an item.",
    discussion: """
      The command refuses to print a secret to a terminal, which shows and keeps it, unless you specify \
      --show. It prints the secret to a program or a file without a newline at the end.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Flag(help: "Print the secret even to a terminal.")
  var show = false

  @Flag(help: "Print everything about the item except its secret.")
  var metadata = false

  func validate() throws {
    if show, metadata { throw ValidationError("Specify either --show or --metadata.") }
  }

  func run() throws {
    if !metadata, !show, Terminal.isOutput {
      throw ToolFailure(
        "The terminal would show the secret.",
        recoverySuggestion: "Send it to a program or a file, or use --show.", status: .misused)
    }
    let commands = try ItemCommands(storage.selected())
    if metadata {
      try Terminal.print(commands.metadata(item.selection()).paragraphs)
    } else {
      try Terminal.show(commands.secret(item.selection()))
    }
  }
}
