// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringFile
import KeyringStorage
import KeyringToolCommands

/// A storage that is named on the command line, with everything that is needed to open it.
struct StorageSelection {
  let name: StorageName
  /// The file with the key of an encrypted file or of a fleet.
  let keyFile: String?
  /// Whether the keyring or this program may ask for a password.
  let mayAsk: Bool
  /// The time to wait for the storage, and for a prompt of the keyring.
  var timeout: Duration?

  /// Throws an error if an option is missing, or has no use.
  ///
  /// - Parameter keyOption: The option for the key file.
  /// - Throws: A `ValidationError` that names the option.
  func check(keyOption: String) throws {
    switch name {
    case .keyring:
      if keyFile != nil {
        throw ValidationError("Use \(keyOption) only with file:… or etcd:….")
      }
    case .file:
      if keyFile == nil, !mayAsk {
        throw ValidationError("With --no-prompt, an encrypted file needs \(keyOption).")
      }
    case .fleet:
      if keyFile == nil { throw ValidationError("Specify \(keyOption).") }
    }
  }

  /// The storage.
  func opened() throws -> any ObservableStorage {
    switch name {
    case .keyring: try keyring()
    case .file(let path): encryptedFile(at: path)
    case .fleet: try fleet()
    }
  }

  private func encryptedFile(at path: String) -> EncryptedFileStorage {
    if keyFile == nil { PromptNotice.cancel() }
    return EncryptedFileStorage(
      at: path, key: keyFile.map(KeySource.keyFile(at:)) ?? .typedPassphrase(),
      timeout: timeout ?? .seconds(25))
  }

  /// The storage, from which items are to be read.
  ///
  /// A missing file or collection is a storage without items, but here it's a mistake.
  func openedSource() throws -> any ObservableStorage {
    switch name {
    case .file(let path): try PlaintextFileFormat.checkFile(at: path)
    case .keyring(_?):
      // Throws an error if there is no such collection.
      _ = try keyring().isLocked()
    default: break
    }
    return try opened()
  }

  /// The keyring, for commands that only a keyring has.
  func keyring() throws -> SecretServiceStorage {
    guard case .keyring(let label) = name else {
      throw ValidationError("This command is only for the keyring.")
    }
    let collection: SecretServiceStorage.Collection =
      switch label {
      case nil: .default
      case "session": .session
      case let label?: .named(label)
      }
    var options = SecretServiceStorage.Options(
      collection: collection, interaction: mayAsk ? .allowed : .never)
    if let timeout { (options.serviceTimeout, options.promptTimeout) = (timeout, timeout) }
    if mayAsk { PromptNotice.schedule() }
    return SecretServiceStorage(options: options)
  }
}
