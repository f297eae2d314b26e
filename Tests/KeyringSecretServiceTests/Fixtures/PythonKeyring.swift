// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The command of the Python package keyring, in Debian's version.
struct PythonKeyring: OtherProgram {
  /// The code that prepares secretstorage for a slow machine and for the keyring.
  ///
  /// jeepney 0.8 gives the bus one second to authenticate it, which a busy machine exceeds.
  ///
  /// KWallet 5.103 can't use the keys of about one session in 256, and secretstorage 3.3.3 doesn't
  /// notice. If KWallet doesn't know the method of encryption, secretstorage uses none.
  private static let prelude =
    "import jeepney.io.blocking as jeepney\n"
    + "jeepney.open_dbus_connection.__defaults__ = ('SESSION', False, 60)\n"
    + (Provider.current == .kwallet
      ? "import secretstorage.util; secretstorage.util.ALGORITHM_DH = 'none'\n" : "")

  func set(_ password: String, service: String, username: String) throws {
    // The command removes the line feed. Without one, version 23.9.3 reads an empty password.
    let (status, _) = try run("set", service, username, input: password + "\n")
    try #require(status == 0)
  }

  func get(service: String, username: String) throws -> String? {
    let (status, output) = try run("get", service, username)
    // The command ends the password with a line feed.
    return status == 0 ? String(decoding: output.dropLast(), as: UTF8.self) : nil
  }

  func remove(service: String, username: String) throws {
    let (status, _) = try run("del", service, username)
    try #require(status == 0)
  }

  private func run(
    _ command: String, _ service: String, _ username: String, input: String = ""
  ) throws -> (status: Int32, output: Data) {
    let script =
      Self.prelude
      + "import runpy; runpy.run_module('keyring', run_name='__main__', alter_sys=True)"
    let backend = "keyring.backends.SecretService.Keyring"
    return try Program(
      "/usr/bin/python3", ["-I", "-c", script, "-b", backend, command, service, username]
    ).finish(input: Data(input.utf8))
  }
}
#endif
