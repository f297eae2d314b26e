// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List items without their secrets.",
    discussion: """
      The command lists all items that match the arguments and options. Without any, it lists everything. In a \
      terminal, it says so if there is none.
      """,
    aliases: ["ls"])

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Flag(help: "List only items whose secret has expired.")
  var expired = false

  @Flag(help: "Print everything about each item except its secret.")
  var long = false

  @Flag(help: "Print a JSON array with everything about each item except its secret.")
  var json = false

  func validate() throws {
    if long, json { throw ValidationError("Specify either --long or --json.") }
  }

  func run() throws {
    let listing = try ItemCommands(storage.selection.openedSource())
      .list(items.selection(), isExpired: expired, allowsUnlocking: !storage.noPrompt)
    if json {
      try Terminal.print([listing.json()])
    } else if long {
      try Terminal.print(listing.paragraphs, separator: "\n\n")
    } else {
      try Terminal.print(listing.lines)
    }
    if !json, listing.isEmpty, Terminal.isOutput { Terminal.complain("There is no such item.") }
  }
}
