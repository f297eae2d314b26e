// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

struct RenameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give an item another service, account or server.",
    discussion: """
      Select an item, and name what changes: keyring-tool rename my-app token --to-account authToken

      The item keeps its secret, label, expiry, comment and further attributes. A label of the old names is \
      replaced by one of the new names. The times of its creation and of its last change are new.

      The command stores the item under its new name, reads it back, and then removes the old one. With KWallet, \
      it waits a minute in between, until the wallet is written. To complete an interrupted renaming, run it again. If there is another item with the new name, the command fails, and \
      changes nothing.

      An empty text leaves a part out, as in --to-port ''.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var selected: BulkOptions

  @Option(help: "The new service.")
  var toService: String?

  @Option(help: "The new account.")
  var toAccount: String?

  @Option(help: "The new access group.")
  var toAccessGroup: String?

  @Option(help: "The new label of a credential within its service.")
  var toCredential: String?

  @Option(help: "The new server of an internet password.")
  var toServer: String?

  @Option(help: "The new port of the server.")
  var toPort: String?

  @Option(help: "The new protocol, which is the scheme of the server's URLs.")
  var toProtocol: String?

  @Option(help: "The new path on the server.")
  var toPath: String?

  @Option(help: "The new security domain of the server.")
  var toDomain: String?

  @Option(help: "The new authentication method.")
  var toAuthentication: String?

  @Option(help: "The new schema, by which another program finds the item.")
  var toSchema: String?

  private var changes: [KeyChanges.Part: String] {
    let all: [KeyChanges.Part: String?] = [
      .service: toService, .account: toAccount, .accessGroup: toAccessGroup,
      .credential: toCredential, .server: toServer, .port: toPort, .protocol: toProtocol,
      .path: toPath, .domain: toDomain, .authentication: toAuthentication, .schema: toSchema,
    ]
    return all.compactMapValues(\.self)
  }

  func validate() throws {
    if changes.isEmpty {
      throw ValidationError("Specify what changes, such as --to-service or --to-account.")
    }
  }

  func run() throws {
    let changes = try KeyChanges(changes)
    let storage = try storage.selected()
    let commands = ItemCommands(storage)
    let count = try commands.rename(
      selected.items.selection(), all: selected.all, allPrograms: selected.allPrograms,
      to: changes
    ) {
      _ = try storage.waitUntilEverythingIsWritten()
    }
    try selected.report("renamed", count, by: commands)
  }
}
