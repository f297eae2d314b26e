// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move an item, or all items of a service or server, to another collection.",
    discussion: """
      The command writes all items and reads them back before it removes any of them. With KWallet, \
      it waits a minute in between, until the wallet is written. KeePassXC doesn't say when it writes. To complete an interrupted move, run it again.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var selected: BulkOptions

  @Option(
    help: """
      The label of the destination collection, or "session". If you don't specify one, the items go to \
      the default collection.
      """)
  var to: String?

  @Flag(help: "Replace items that the destination already has.")
  var replace = false

  func validate() throws {
    if storage.selection.name == .keyring(collection: to) {
      throw ValidationError("The destination is the same collection. Specify --to or --collection.")
    }
  }

  func run() throws {
    let destination = try storage.keyring(to)
    let commands = try ItemCommands(storage.keyring())
    let count = try commands.move(
      selected.items.selection(), all: selected.all, allPrograms: selected.allPrograms,
      to: destination, replacing: replace
    ) {
      _ = try destination.waitUntilEverythingIsWritten()
    }
    try selected.report("moved", count, by: commands)
  }
}
