// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copy items to another storage, such as an encrypted file as a backup.",
    discussion: CopyOptions.discussion)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var copy: CopyOptions

  @Option(help: StorageName.help("The storage to copy the items to"))
  var to: StorageName

  @Option(
    help: "The file with the key of that storage. If it doesn't exist, it's created.",
    completion: .file())
  var toKeyFile: String?

  private var destination: StorageSelection {
    storage.selection(of: to, keyFile: toKeyFile)
  }

  func validate() throws {
    try destination.check(keyOption: "--to-key-file")
    if to == storage.selection.name {
      throw ValidationError("Both storages are the same.")
    }
  }

  func run() throws {
    try copy.run(from: storage.selection.openedSource(), to: destination.opened())
  }
}
