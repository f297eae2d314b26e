// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an item, or all items of a service or server.",
    aliases: ["rm"])

  @OptionGroup var storage: StorageOptions
  @OptionGroup var selected: BulkOptions

  func run() throws {
    let commands = try ItemCommands(storage.selected())
    let count = try commands.remove(
      selected.items.selection(), all: selected.all, allPrograms: selected.allPrograms)
    try selected.report("removed", count, by: commands)
  }
}
