// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringFile
import KeyringStorage

/// A program that runs with and without a desktop: under systemd, in a container, in a remote shell.
///
/// It prints where its secrets are, reads one, and writes one. Its exit status is 0 if it has the token
/// that it needs.
@main
struct HeadlessService {
  @Password("authToken") var authToken: String?
  @Password("lastSession") var lastSession: String?

  static func main() {
    let service = "org.example.HeadlessService"
    SecureStorageDefaults.service = service
    // Credentials from systemd or from a container.
    var storages: [any SecureStorage] = [
      CredentialsDirectoryStorage(service: service),
      CredentialsDirectoryStorage(service: service, directory: "/run/secrets"),
    ]
    #if SecretService && os(Linux)
    // The keyring of a desktop. No user is there to answer its prompts.
    storages.append(SecretServiceStorage(interaction: .never))
    #endif
    let state = Self.variable("STATE_DIRECTORY")
    #if EncryptedFile
    // A file that the service's user has set up, with a key from elsewhere: systemd, or a mount.
    if let directory = state {
      let key = Self.variable("HEADLESS_SERVICE_KEY_FILE").map { KeySource.keyFile(at: $0) }
      storages.insert(
        EncryptedFileStorage(
          at: directory + "/secrets", key: key ?? .systemdCredential("secrets-key")), at: 0)
    }
    #endif
    storages.append(EnvironmentStorage(service: service, prefix: "HEADLESS_SERVICE_"))
    // The selected storage is remembered next to the service's state, or in the home directory of its user.
    let memory = state.map { SelectionMemory.file(at: $0 + "/selection") } ?? .program(service)
    let storage = FirstAvailableStorage(storages, remembering: memory)
    SecureStorageDefaults.storage = storage
    // Print each failed assignment, with the selected storage and why those before it were skipped.
    SecureStorageDefaults.failureHandler = { print("failure: \($0.error)") }
    do throws(SecureStorageError) {
      print("storage: \(try storage.selection())")
      guard try HeadlessService().run() else { exit(1) }
    } catch {
      print("failure: \(error)")
      exit(1)
    }
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Uses the secrets, and returns `false` if there is no token.
  private func run() throws(SecureStorageError) -> Bool {
    guard let token = try $authToken.read() else {
      print("token: none")
      return false
    }
    print("token: \(token.count) characters")
    lastSession = "a session that is kept where that is possible"
    print("writing: \($lastSession.failure.map { "\($0.code)" } ?? "done")")
    return true
  }
}
