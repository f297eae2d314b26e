// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of programs that get their variables from a file with references.
@Suite(.inPrivateSession, .needs("python3"), .needs("secret-tool"))
struct EnvironmentFileTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private let directory = TemporaryDirectory()
  /// A program that prints the variables after its name as a list of bytes.
  private static let print = """
    import os, sys
    print([os.environb[name.encode()] for name in sys.argv[1:]])
    """

  private func file(_ content: Data) throws -> String {
    let path = directory.path("\(UUID().uuidString).env")
    try content.write(to: URL(fileURLWithPath: path))
    return path
  }

  private func set(_ arguments: [String], _ secret: String) throws {
    let item = ["set", "--service", service, "--binary", "--empty"] + arguments
    #expect(try Program.tool(item, input: secret).status == 0)
  }

  private func run(
    _ content: String, _ options: [String] = [], _ command: [String]
  ) throws -> Program.Result {
    let file = try file(Data(content.utf8))
    return try Program.tool(["run", "--env-file", file] + options + ["--"] + command)
  }

  private func printing(_ names: String...) -> [String] {
    ["python3", "-c", Self.print] + names
  }

  @Test func `references become secrets, and plain values stay`() throws {
    // Line breaks, quotes, Unicode, an expansion, and nothing.
    let secret = "a\n\"b' $HOME \\ \u{1F511}\r\n"
    try set(["--account", "a/b %"], secret)
    try set(["--account", "empty"], "")
    try set(["--credential", "mine", "--login", "ada"], "pa55")
    try set(["--account", "v", "--value"], "value")
    let content = """
      # keyring://\(service)/none
      export A="keyring://\(service)/a%2Fb%20%25"
      B=keyring://\(service)/empty
      C='keyring://\(service)?credential=mine'
      D=keyring://\(service)?credential=mine&login # the login
      E=keyring://\(service)/v?value
      P='$HOME keyring://x/y "'
      Q="two\\nlines
      more"
      R=

      """
    let result = try run(content, ["--no-prompt"], printing("A", "B", "C", "D", "E", "P", "Q", "R"))
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    let quoted = #"b'a\n"b\' $HOME \\ \xf0\x9f\x94\x91\r\n'"#
    #expect(
      result.output
        == "[\(quoted), b'', b'pa55', b'ada', b'value', "
        + #"b'$HOME keyring://x/y "', b'two\nlines\nmore', b'']"# + "\n")
  }

  @Test func `bytes that aren't UTF-8 stay as they are`() throws {
    let file = try file(Data([0x41, 0x3D, 0xFF, 0x80, 0x0A]))
    let result = try Program.tool(["run", "--env-file", file, "--"] + printing("A"))
    #expect(result.output == "[b'\\xff\\x80']\n", "\(result)")
  }

  @Test func `a file without references needs no keyring`() throws {
    let file = try file(Data("A=1\n".utf8))
    let result = try Program.run(
      "env",
      ["DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", Program.toolPath, "run"]
        + ["--env-file", file, "--"] + printing("A"))
    #expect(result.output == "[b'1']\n", "\(result)")
  }

  @Test func `an item of a server and one of another collection are found`() throws {
    let host = "\(UUID().uuidString.lowercased()).example.org"
    let server = ["set", "--server", host, "--protocol", "https", "--account", "ada"]
    #expect(try Program.tool(server, input: "pa55").status == 0)
    try set(["--account", "me", "--collection", "session"], "temporary")
    let content = """
      A=keyring://?server=\(host)&protocol=https&account=ada
      B=keyring://\(service)/me?collection=session

      """
    #expect(try run(content, printing("A", "B")).output == "[b'pa55', b'temporary']\n")
  }

  @Test func `a file can be used together with other options`() throws {
    try set(["--account", "a"], "s3cret")
    let result = try run(
      "A=keyring://\(service)/a\n", ["--service", service, "--file", "a", "--env", "B=a"],
      ["sh", "-c", "cat \"$CREDENTIALS_DIRECTORY/a\"; echo \" $A $B\""])
    #expect(result.output == "s3cret s3cret s3cret\n", "\(result)")
    for name in ["B", "CREDENTIALS_DIRECTORY"] {
      let twice = try run(
        "\(name)=1\n", ["--service", service, "--file", "a", "--env", "B=a"], ["echo", "started"])
      #expect(twice.status == 64 && twice.output.isEmpty && twice.errors.contains(name), "\(twice)")
    }
  }

  @Test func `a missing secret is named with its line, and nothing is started`() throws {
    try set(["--account", "a"], "s3cret")
    for (reference, status) in [("/none", 3), ("?credential=a&login", 3), ("/a/b", 64)] {
      let content = "# c\nA=keyring://\(service)/a\nB=keyring://\(service)\(reference)\n"
      let result = try run(content, ["echo", "started"])
      #expect(result.status == status && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains("B in line 3"), "\(result)")
      #expect(!result.errors.contains("s3cret"))
    }
    let elsewhere = try run(
      "# c\nB=keyring://\(service)/a?collection=work\n",
      ["--storage", "file:\(directory.path("secrets"))", "--key-file", directory.path("key")],
      ["echo", "started"])
    #expect(elsewhere.status == 64 && elsewhere.output.isEmpty, "\(elsewhere)")
    #expect(elsewhere.errors.contains("B in line 2 of"), "\(elsewhere)")
    let missing = try Program.tool(["run", "--env-file", "/nonexistent", "--", "echo", "started"])
    #expect(missing.status == 3 && missing.output.isEmpty)
  }
}

extension EnvironmentFileTests {
  private func run(_ content: String, _ command: [String]) throws -> Program.Result {
    try run(content, [], command)
  }
}
