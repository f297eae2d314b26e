// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage
import KeyringToolCommands

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Unlock a collection.",
    discussion: """
      In a terminal, the tool asks for the password of the collection by itself, also in a remote shell. A keyring \
      without a default collection gets one, whose password you choose. Without a terminal, the keyring asks in a \
      window of its own. KWallet and KeePassXC always do that.
      """)

  @OptionGroup var storage: StorageOptions

  @Flag(help: "Read the password from standard input. A line end after it isn't a part of it.")
  var passwordStdin = false

  func run() throws {
    do {
      try unlock()
    } catch let error as SecureStorageError where error.code == .wrongKey {
      throw ToolFailure(
        error.message, recoverySuggestion: error.recoverySuggestion ?? "", status: .locked)
    }
  }

  private func unlock() throws {
    if passwordStdin {
      let password = try Terminal.readPassword()
      return try storage.keyring().unlock(password: password)
    }
    let keyring = try storage.keyring()
    guard !storage.noPrompt, Terminal.isInput else { return try keyring.unlock() }
    // The question says what the tool waits for.
    PromptNotice.cancel()
    var options = keyring.options
    options.interaction = .terminal
    do {
      try SecretServiceStorage(options: options).unlock()
    } catch {
      guard error.takesNoPassword, Terminal.mayShowWindows else { throw error }
      Terminal.complain(error.message)
      try keyring.unlock()
    }
  }
}

extension SecureStorageError {
  /// Whether the keyring has no methods that take a password.
  fileprivate var takesNoPassword: Bool {
    underlying?.domain == "org.freedesktop.DBus.Error.UnknownInterface"
  }
}
