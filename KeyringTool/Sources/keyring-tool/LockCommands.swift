// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock a collection.")

  @OptionGroup var storage: StorageOptions

  func run() throws { try storage.keyring().lock() }
}

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Unlock a collection. The keyring asks for its password.")

  @OptionGroup var storage: StorageOptions

  func run() throws { try storage.keyring().unlock() }
}
