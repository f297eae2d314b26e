// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct CollectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collections", abstract: "List, create or delete collections.")

  @OptionGroup var storage: StorageOptions

  @Option(help: "Create a collection with this label. The keyring asks for its password.")
  var create: String?

  @Option(help: "Delete the collection with this label and all its items.")
  var delete: String?

  func validate() throws {
    if case .keyring(_?) = storage.selection.name {
      throw ValidationError(
        "This command lists all collections. Name one with --create or --delete.")
    }
    if create != nil, delete != nil {
      throw ValidationError("Specify either --create or --delete.")
    }
  }

  func run() throws {
    let commands = try CollectionCommands(storage.keyring())
    if let create {
      try commands.create(create)
    } else if let delete {
      try commands.delete(delete)
    } else {
      try Terminal.print(commands.list())
    }
  }
}
