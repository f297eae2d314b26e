// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of imports from files into a keyring.
@Suite(.inPrivateSession, .needs("python3"))
struct ImportTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private let directory = TemporaryDirectory()

  private func file(_ content: String, _ name: String = ".env") throws -> String {
    let path = directory.path(name)
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    try #require(chmod(path, 0o600) == 0)
    return path
  }

  private func get(_ account: String) throws -> String {
    try Program.tool(["get", service, account]).output
  }

  @Test func `a dry run prints names, and no secret`() throws {
    let file = try file("A=s3cret\n")
    let result = try Program.tool(["import", file, service, "--dry-run"])
    #expect(result.output == "A  password (service: \(service), username: A)\n", "\(result)")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(try Program.tool(["get", service, "A"]).status == 3)
    // It doesn't even need a keyring.
    let without = try Program.run(
      "env",
      ["DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", Program.toolPath, "import"]
        + [file, service, "--dry-run"])
    #expect(without.output == result.output)
  }

  @Test func `values are imported, and removed from the file on request`() throws {
    let text = "# kept\nA=1\nB=\"two\\nlines\"\n"
    let file = try file(text)
    let result = try Program.tool(["import", file, service])
    #expect(result.status == 0 && result.output == "imported 2\n", "\(result)")
    #expect(try get("A") == "1" && get("B") == "two\nlines")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    let removal = try Program.tool(["import", file, service, "--remove-source"])
    #expect(removal.output == "imported 2\nremoved 2 from the file\n", "\(removal)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "# kept\n")
  }

  @Test func `entries that can't be imported are named, and the others are imported`() throws {
    let host = "\(UUID().uuidString.lowercased()).example.org"
    let text = "machine \(host) login ada password pa55\n"
    let file = try file(text + "default login x password s3cret\n", ".netrc")
    let result = try Program.tool(["import", file])
    #expect(result.status == 1 && result.output == "imported 1\n", "\(result)")
    #expect(result.errors.contains("line 2") && !result.errors.contains("s3cret"))
    let netrc = ["run", "--netrc", host, "--", "sh", "-c", "cat \"$NETRC\""]
    #expect(try Program.tool(netrc).output == text)
  }

  private static let unclear: [(words: String, status: Int32)] = [
    ("FILE", 64), ("FILE --server h", 64), ("FILE s a", 64),
    ("/nonexistent/.env s", 3), ("FILE s --from-key-file k", 64),
    ("FILE s --format netrc", 64), ("FILE s --only B", 3),
    ("keyring:x --only A", 64), ("FILE s --remove-source --collection session", 64),
    ("FILE s --dry-run --replace", 64), ("/dev/null", 64),
    ("/nonexistent/file s", 3), ("session --dry-run s", 3),
  ]

  @Test(arguments: unclear) func `unclear imports are refused`(words: String, status: Int32) throws
  {
    let file = try file("A=s3cret\n")
    let arguments = words.split(separator: " ").map { $0 == "FILE" ? file : String($0) }
    let result = try Program.tool(["import"] + arguments)
    #expect(result.status == status && result.output.isEmpty, "\(result)")
    #expect(!result.errors.contains("s3cret"))
  }

  @Test(arguments: [["list"], ["get", "s", "a"], ["doctor"], ["git-credential", "get"]])
  func `a keyring that doesn't answer ends a command after its time`(arguments: [String]) throws {
    let start = ContinuousClock.now
    let program = try Program.onSilentBus(arguments + ["--timeout", "0.5"], in: directory)
    try program.type("url=https://h\n\n")
    let result = try program.finish()
    #expect(result.status == (arguments[0] == "git-credential" ? 1 : 6), "\(result)")
    #expect(ContinuousClock.now - start < .seconds(10))
  }
}
