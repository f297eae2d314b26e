// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the secret of an item.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Flag(help: "Print everything about the item except its secret.")
  var metadata = false

  func run() throws {
    let commands = try ItemCommands(storage.selected())
    if metadata {
      try Terminal.print(commands.metadata(item.selection()).paragraphs)
    } else {
      try Terminal.write(commands.secret(item.selection()))
    }
  }
}
