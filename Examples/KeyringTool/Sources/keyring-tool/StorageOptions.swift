// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage

/// The options that select the storage, and that control whether it may ask.
struct StorageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The storage: \"keyring\", or \"etcd:\" and the namespace of a fleet.",
      discussion: """
        The cluster of a fleet is described by the environment variables of etcdctl, such as \
        ETCDCTL_ENDPOINTS and ETCDCTL_CACERT. The tool needs the trait Etcd for it.
        """))
  var storage = StorageName.keyring

  @Option(help: "The file with the key of the fleet.")
  var keyFile: String?

  @Option(
    help: "The label of the collection, or \"session\" for the one that is deleted at logout.")
  var collection: String?

  @Flag(help: "Fail instead of letting the keyring ask for a password.")
  var noPrompt = false

  func validate() throws {
    switch storage {
    case .keyring:
      if keyFile != nil { throw ValidationError("Use --key-file only with --storage etcd:….") }
    case .fleet:
      if collection != nil || noPrompt {
        throw ValidationError("Use --collection and --no-prompt only with the keyring.")
      }
      if keyFile == nil { throw ValidationError("Specify --key-file.") }
    }
  }

  /// The selected storage.
  func selected() throws -> any ObservableStorage {
    switch storage {
    case .keyring: try keyring()
    case .fleet: try fleet()
    }
  }

  /// The keyring, for commands that only a keyring has.
  func keyring() throws -> SecretServiceStorage { try keyring(collection) }

  /// Another collection of the keyring.
  func keyring(_ collection: String?) throws -> SecretServiceStorage {
    guard storage == .keyring else {
      throw ValidationError("This command is only for the keyring.")
    }
    return SecretServiceStorage(
      collection: Self.collection(collection), interaction: noPrompt ? .never : .allowed)
  }

  private static func collection(_ label: String?) -> SecretServiceStorage.Collection {
    switch label {
    case nil: .default
    case "session": .session
    case let label?: .named(label)
    }
  }
}

/// The name of a storage on the command line.
enum StorageName: Equatable, ExpressibleByArgument, CustomStringConvertible {
  case keyring
  case fleet(namespace: String)

  init?(argument: String) {
    if argument == "keyring" {
      self = .keyring
    } else if argument.hasPrefix("etcd:") {
      self = .fleet(namespace: String(argument.dropFirst("etcd:".count)))
    } else {
      return nil
    }
  }

  var description: String {
    switch self {
    case .keyring: "keyring"
    case .fleet(let namespace): "etcd:\(namespace)"
    }
  }
}
