// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print each change of an item until the command is interrupted.",
    discussion: """
      If the storage can't be read, changes go unnoticed, and the command says so on standard error. \
      When it can be read again, the command says so, too, and prints what has changed in the meantime. \
      Changes of a locked storage are printed after an unlock.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  func run() async throws {
    let storage = try storage.selected()
    let selection = items.selection()
    let query = try selection.query()
    let changes = try await storage.changes(matching: query)
    let connection = try await storage.observeWithoutBlocking(query) { event in
      switch event {
      case .interrupted: Terminal.complain("The storage can't be read, so changes go unnoticed.")
      case .resumed: Terminal.complain("Changes are noticed again.")
      default: break
      }
    }
    // The observation ends when it's released.
    defer { connection.cancel() }
    PromptNotice.cancel()
    // From now on, no change is missed.
    Terminal.complain("watching")
    for await change in changes where selection.hasSchema(of: change.key) {
      try Terminal.print([ItemListing.line(for: change)])
    }
  }
}
