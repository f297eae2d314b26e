// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an item, or all items of a service or server.",
    aliases: ["rm"])

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Flag(help: "Remove all items of the service or server.")
  var all = false

  func run() throws {
    let count = try ItemCommands(storage.selected()).remove(items.selection(), all: all)
    try Terminal.print(["removed \(count)"])
  }
}
