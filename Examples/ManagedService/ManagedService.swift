// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring

/// A service whose secrets a manager delivers as files, and rotates while it runs.
///
///   ManagedService DIRECTORY
///
/// It prints a line for the login that it has read at its start, and for each new one.
@main
struct ManagedService {
  @Credentials("database") var database: Credential?

  static func main() async {
    guard CommandLine.arguments.count == 2 else {
      print("usage: ManagedService DIRECTORY")
      exit(2)
    }
    let service = "org.example.ManagedService"
    SecureStorageDefaults.service = service
    SecureStorageDefaults.storage = CredentialsDirectoryStorage(
      service: service, directory: CommandLine.arguments[1])
    do {
      try await ManagedService().run()
    } catch {
      report("failure: \(error)")
      exit(1)
    }
  }

  private func run() async throws {
    // Get the stream before the first read, so that no change is missed.
    let changes = try await $database.changes
    await connect()
    for await _ in changes { await connect() }
  }

  /// Stands for the connection to a database, which needs a login with its own password.
  private func connect() async {
    do {
      guard let credential = try await $database.read() else { return Self.report("no credential") }
      Self.report("connected as \(credential.login), password of \(credential.secret.count) bytes")
    } catch {
      Self.report("failure: \(error)")
    }
  }

  /// Prints a line at once, also into a pipe.
  private static func report(_ line: String) {
    print(line)
    fflush(nil)
  }
}
