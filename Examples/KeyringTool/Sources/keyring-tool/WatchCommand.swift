// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change of an item until the command is interrupted."
  )

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  func run() async throws {
    let changes = try await storage.selected().changes(matching: items.selection().query())
    // From now on, no change is missed.
    Terminal.complain("watching")
    for await change in changes { try Terminal.print([ItemListing.line(for: change)]) }
  }
}
