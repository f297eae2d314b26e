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
