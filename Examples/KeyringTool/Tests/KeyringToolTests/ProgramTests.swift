import Foundation
import Testing

/// The program itself, in the private session of `Scripts/private-session`.
@Suite(
  .enabled(
    if: ProcessInfo.processInfo.environment["KEYRING_TEST_WITNESS"] != nil,
    "no private session: run .ci/keyring-tool"))
struct ProgramTests {
  private let service = "keyring-tool-\(UUID().uuidString)"

  @Test func setsGetsListsAndRemoves() throws {
    let item = ["--service", service, "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret hällo\n").status == 0)
    #expect(try Program.tool(["get"] + item).output == "s3cret hällo")
    let lookup = ["lookup", "service", service, "username", "me"]
    #expect(try Program.run("secret-tool", lookup).output == "s3cret hällo")

    let list = try Program.tool(["list", "--service", service])
    #expect(list.output.contains("username=me") && !list.output.contains("s3cret"))
    let long = try Program.tool(["list", "--long", "--service", service])
    #expect(long.output.contains("label: \(service): me") && !long.output.contains("s3cret"))

    let again = try Program.tool(["set", "--add"] + item, input: "other")
    #expect(again.status == 1 && again.output.contains("already"))
    #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
    let missing = try Program.tool(["get"] + item)
    #expect(missing.status == 1 && missing.output.contains("There is no password"))
    #expect(try Program.run("secret-tool", lookup).status != 0)
  }

  @Test func credentialsAndInternetPasswords() throws {
    let credential = ["--service", service, "--credential", "mine"]
    #expect(
      try Program.tool(["set"] + credential + ["--login", "ada"], input: "pa55").status == 0)
    #expect(try Program.tool(["get"] + credential).output == "pa55")
    #expect(
      try Program.tool(["get", "--metadata"] + credential).output.contains("username=ada"))

    let server = ["--server", service, "--protocol", "https", "--port", "8443"]
    #expect(try Program.tool(["set"] + server + ["--account", "me"], input: "s3cret").status == 0)
    let found = try Program.run("secret-tool", ["lookup", "server", service, "port", "8443"])
    #expect(found.output == "s3cret")
    #expect(try Program.tool(["remove", "--all", "--server", service]).output == "removed 1\n")
    #expect(try Program.tool(["remove", "--all", "--service", service]).output == "removed 1\n")
  }

  @Test func bytesSurviveThePipe() throws {
    let item = ["--service", service, "--account", "key", "--value"]
    #expect(try Program.tool(["set", "--binary"] + item, input: "\0a\n").status == 0)
    #expect(try Program.tool(["get"] + item).output == "\0a\n")
    _ = try Program.tool(["remove"] + item)
  }

  @Test func movesToTheSessionCollection() throws {
    for account in ["one", "two"] {
      _ = try Program.tool(
        ["set", "--service", service, "--account", account], input: "of \(account)")
    }
    let move = ["move", "--all", "--service", service, "--to", "session"]
    #expect(try Program.tool(move).output == "moved 2\n")
    #expect(try Program.tool(["list", "--service", service]).output.isEmpty)
    let there = ["--collection", "session", "--service", service]
    #expect(try Program.tool(["get", "--account", "one"] + there).output == "of one")
    #expect(try Program.tool(["remove", "--all"] + there).output == "removed 2\n")
  }

  @Test func refusesWhatIsNotClear() throws {
    #expect(try Program.tool(["get", "--service", service]).status == 64)
    #expect(try Program.tool(["set", "--service", service, "--credential", "x"]).status == 64)
    let everything = try Program.tool(["remove", "--all"])
    #expect(everything.status == 1 && everything.output.contains("must name"))
    #expect(try Program.tool(["collections"]).output.contains("(default)"))
  }

  @Test func askingDoesNotEcho() throws {
    let item = ["--service", service, "--account", "typed"]
    let command = ([Program.toolPath, "set"] + item).joined(separator: " ")
    let terminal = try Program(
      "script", ["--quiet", "--return", "--command", command, "/dev/null"])
    for prompt in ["Secret: ", "Again: "] {
      try terminal.waitFor(prompt)
      try terminal.type("t0p s3cret\n")
    }
    let (status, output) = try terminal.finish()
    #expect(status == 0)
    #expect(!output.contains("t0p"))
    #expect(try Program.tool(["get"] + item).output == "t0p s3cret")
    _ = try Program.tool(["remove"] + item)
  }
}
