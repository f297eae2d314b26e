#if SecretService && os(Linux)
import Foundation
import Testing

/// The command of the Python package keyring, as Debian has it.
struct PythonKeyring: OtherProgram {
  func set(_ password: String, service: String, username: String) throws {
    // It takes the line feed off; without one, 23.9.3 takes everything for nothing.
    let (status, _) = try run("set", service, username, input: password + "\n")
    try #require(status == 0)
  }

  func get(service: String, username: String) throws -> String? {
    let (status, output) = try run("get", service, username)
    // It ends the password with a line feed.
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
      PythonSecretStorage.prelude
      + "import runpy; runpy.run_module('keyring', run_name='__main__', alter_sys=True)"
    let backend = "keyring.backends.SecretService.Keyring"
    return try Program(
      "/usr/bin/python3", ["-I", "-c", script, "-b", backend, command, service, username]
    ).finish(input: Data(input.utf8))
  }
}
#endif
