// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage

/// The options that select the storage, and that control whether it may ask.
struct StorageOptions: ParsableArguments {
  @Option(
    help: StorageName.help(
      "The storage",
      discussion: """
        The cluster of a fleet is described by the environment variables of etcdctl, such as \
        ETCDCTL_ENDPOINTS and ETCDCTL_CACERT. The tool needs the trait Etcd for it.
        """))
  var storage = StorageName.keyring(collection: nil)

  @Option(
    help: ArgumentHelp(
      "The file with the key of an encrypted file or of a fleet.",
      discussion: "Without it, the tool asks for the passphrase of an encrypted file."))
  var keyFile: String?

  @Option(
    help: "The label of the collection, or \"session\" for the one that is deleted at logout.")
  var collection: String?

  @Flag(help: "Fail instead of asking for a password.")
  var noPrompt = false

  @Option(
    help: ArgumentHelp(
      "The time to wait for the storage, and again as long for the answer to a prompt of the keyring.",
      discussion: """
        Without it, the command waits 25 seconds for the keyring or for an encrypted file that another program \
        writes, 10 seconds for a fleet, and 5 minutes for the user. More than 64 items at once have as much \
        time for each 64 of them.
        """,
      valueName: "seconds"))
  var timeout: Double?

  func validate() throws {
    if collection != nil, storage != .keyring(collection: nil) {
      throw ValidationError("Use --collection only with --storage keyring.")
    }
    if noPrompt, case .fleet = storage {
      throw ValidationError("Use --no-prompt only with the keyring or an encrypted file.")
    }
    if let timeout, !(0.001...1e9).contains(timeout) {
      throw ValidationError("Specify a --timeout of more than 0 seconds.")
    }
    try selection.check(keyOption: "--key-file")
  }

  /// The storage with everything that is needed to open it.
  var selection: StorageSelection {
    let name = collection.map { StorageName.keyring(collection: $0) } ?? storage
    return selection(of: name, keyFile: keyFile)
  }

  /// Another storage, which is opened in the same way.
  func selection(of name: StorageName, keyFile: String?) -> StorageSelection {
    StorageSelection(
      name: name, keyFile: keyFile, mayAsk: !noPrompt, timeout: timeout.map { .seconds($0) })
  }

  /// The selected storage.
  func selected() throws -> any ObservableStorage { try selection.opened() }

  /// The keyring, for commands that only a keyring has.
  func keyring() throws -> SecretServiceStorage { try selection.keyring() }

  /// Another collection of the keyring.
  func keyring(_ collection: String?) throws -> SecretServiceStorage {
    _ = try keyring()
    return try selection(of: .keyring(collection: collection), keyFile: nil).keyring()
  }
}
