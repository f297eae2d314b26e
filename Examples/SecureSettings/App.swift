// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringFile

/// An app that signs in and out.
///
/// Each command is a separate process, so it finds what an earlier command left in the keyring.
@main
struct App {
  /// The settings, in a `let`: assigning changes the keyring and not the struct.
  let settings = SecureSettings()

  static func main() {
    SecureStorageDefaults.service = "org.example.SecureSettings"
    let arguments = CommandLine.arguments.dropFirst()
    #if EncryptedFile
    switch arguments.dropFirst().first {
    case nil: break
    case "automatic":
      // Use the keyring, or a file where there is none. The passphrase of the file is typed.
      SecureStorageDefaults.storage = FirstAvailableStorage.automatic()
    case let path?:
      // A key next to its file is acceptable only in a demonstration.
      SecureStorageDefaults.storage = EncryptedFileStorage(
        at: path, key: .keyFile(at: path + ".key"))
    }
    #endif
    do throws(SecureStorageError) {
      try App().run(arguments.first ?? "")
    } catch {
      complain("\(error.message) \(error.recoverySuggestion ?? "")")
      exit(1)
    }
  }

  private static func complain(_ text: String) {
    let line = Array("    \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }

  func run(_ command: String) throws(SecureStorageError) {
    switch command {
    case "sign-in": signIn()
    case "refresh": refresh()
    case "sign-out": try settings.clear()
    case "use-keyring": try useKeyring()
    case "show": break
    default:
      return print(
        "usage: SecureSettings sign-in | show | refresh | use-keyring | sign-out [automatic | FILE]"
      )
    }
    try show()
  }

  func signIn() {
    settings.account = Credential(login: "ada@example.org", password: newToken())
    settings.subAccount = Credential(login: "ada-backup@example.org", password: newToken())
    settings.authToken = newToken()
    settings.refreshToken = newToken()
  }

  /// Moves to the keyring, if an app that has begun with a file may use it now.
  func useKeyring() throws(SecureStorageError) {
    #if SecretService && os(Linux)
    guard let storage = SecureStorageDefaults.currentStorage as? FirstAvailableStorage,
      try !storage.selection().appeared.isEmpty
    else { return }
    try SecureProperties(of: settings).copy(to: SecretServiceStorage())
    try storage.select(0)
    #endif
  }

  func refresh() {
    settings.account = Credential(login: "ada.lovelace@example.org", password: newToken())
    settings.authToken = newToken()
  }

  func show() throws(SecureStorageError) {
    row("account", credential(settings.account))
    row("subAccount", credential(settings.subAccount))
    row("authToken", token(settings.authToken))
    row("refreshToken", token(settings.refreshToken))
    // Plain reads and assignments can't throw. The property keeps the error.
    if let failure = settings.failures.first { throw failure }
  }

  private func row(_ name: String, _ value: String) {
    print("    \(padded(name, to: 13)) \(value)")
  }

  private func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func credential(_ credential: Credential?) -> String {
    guard let credential else { return "none" }
    return padded(credential.login, to: 24) + "  " + masked(credential.password)
  }

  private func token(_ token: String?) -> String {
    guard let token else { return "none" }
    return padded("", to: 24) + "  " + masked(token)
  }

  /// Returns the end of a secret, which is enough to distinguish an old one from a new one.
  private func masked(_ secret: String) -> String { "••••••••" + secret.suffix(2) }

  private func newToken() -> String {
    String((0..<24).compactMap { _ in "abcdefghijkmnpqrstuvwxyz23456789".randomElement() })
  }
}
