// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy items from another storage, such as a backup that \"export\" has written.",
    discussion: CopyOptions.discussion)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var copy: CopyOptions

  @Option(help: StorageName.help("The storage to copy the items from"))
  var from: StorageName

  @Option(help: "The file with the key of that storage.")
  var fromKeyFile: String?

  private var source: StorageSelection {
    StorageSelection(name: from, keyFile: fromKeyFile, mayAsk: !storage.noPrompt)
  }

  func validate() throws {
    try source.check(keyOption: "--from-key-file")
    if from == storage.selection.name {
      throw ValidationError("Both storages are the same.")
    }
  }

  func run() throws {
    try copy.run(from: source.openedSource(), to: storage.selected())
  }
}
