// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of programs that get their variables from a file with references, or from all items of a service.
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
    _ content: String, _ command: [String], _ options: [String] = []
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
    let result = try run(content, printing("A", "B", "C", "D", "E", "P", "Q", "R"), ["--no-prompt"])
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
      "A=keyring://\(service)/a\n",
      ["sh", "-c", "cat \"$CREDENTIALS_DIRECTORY/a\"; echo \" $A $B\""],
      ["--service", service, "--file", "a", "--env", "B=a"])
    #expect(result.output == "s3cret s3cret s3cret\n", "\(result)")
    for name in ["B", "CREDENTIALS_DIRECTORY"] {
      let twice = try run(
        "\(name)=1\n", ["echo", "started"], ["--service", service, "--file", "a", "--env", "B=a"])
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
      "# c\nB=keyring://\(service)/a?collection=work\n", ["echo", "started"], directory.storage)
    #expect(elsewhere.status == 64 && elsewhere.output.isEmpty, "\(elsewhere)")
    #expect(elsewhere.errors.contains("B in line 2 of"), "\(elsewhere)")
    let missing = try Program.tool(["run", "--env-file", "/nonexistent", "--", "echo", "started"])
    #expect(missing.status == 3 && missing.output.isEmpty)
  }

  @Test func `each own item of a service becomes a variable, and the others are named`() throws {
    for name in ["A_TOKEN", "_2", "USER", "FROM_FILE", "EMPTY", "NETRC"] {
      try set(["--account", name], name == "EMPTY" ? "" : "of \(name)\n")
    }
    for (name, secret) in [("a-b", "x"), ("2", "x"), ("BYTES", "\0"), ("\u{E9}", "x")] {
      try set(["--account", name], secret)
    }
    try set(["--credential", "git", "--login", "LOGIN"], "x")
    try Program.storeTheirs(["service", service, "username", "THEIRS", "folder", "in"])
    let run = ["run", service, "--env-file", try file(Data("FROM_FILE=file\nMORE=1\n".utf8))]
    let names = ["A_TOKEN", "EMPTY", "FROM_FILE", "MORE", "NETRC", "USER", "_2"]
    let left = """
      keyring-tool: left out: 2 (no name of a variable), BYTES (isn't text), FROM_FILE (set by another option), \
      THEIRS (another program's), a-b (no name of a variable), git (a credential), \u{E9} (no name of a variable)

      """
    let script = "import os, sys; print([os.environ.get(name) for name in sys.argv[1:]])"
    let command = ["--", "python3", "-c", script] + names + ["BYTES", "THEIRS", "LOGIN"]
    let result = try Program.tool(run + command)
    #expect(result.errors == left && result.status == 0, "\(result)")
    let values = [
      "'of A_TOKEN\\n'", "''", "'file'", "'1'", "'of NETRC\\n'", "'of USER\\n'", "'of _2\\n'",
      "None", "None", "None",
    ]
    #expect(result.output == "[\(values.joined(separator: ", "))]\n", "\(result)")
    for command in [command, []] {
      let dry = try Program.tool(run + ["--dry-run"] + command)
      #expect(dry.output == names.joined(separator: "\n") + "\n" && dry.errors == left, "\(dry)")
    }
    let files = ["run", service, "--file", "token=A_TOKEN", "--env", "B=_2", "--dry-run"]
    #expect(
      try Program.tool(files).output == "$CREDENTIALS_DIRECTORY/token\nB\nCREDENTIALS_DIRECTORY\n")
  }

  @Test func `a service without variables starts no program`() throws {
    let missing = try Program.tool(["run", service, "--", "echo", "started"])
    #expect(missing.status == 3 && missing.output.isEmpty, "\(missing)")
    try set(["--account", "a-b"], "x")
    let left = try Program.tool(["run", service, "--", "echo", "started"])
    #expect(left.status == 3 && left.errors.contains("a-b (no name of a variable)"), "\(left)")
    for kind in [[], ["--value"]] { try set(["--account", "TWICE"] + kind, "x") }
    let twice = try Program.tool(["run", service, "--", "echo", "started"])
    #expect(twice.status == 9 && twice.errors.contains("the account TWICE"), "\(twice)")
  }
}
