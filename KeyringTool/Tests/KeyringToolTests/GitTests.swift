// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program as git runs it, on a real keyring.
@Suite(.inPrivateSession, .needs("git"), .needs("secret-tool")) struct GitTests {
  let git: Git
  let host = "\(UUID().uuidString.lowercased()).example.org"

  init() throws { git = try Git() }

  /// Tells git that a server has accepted a password.
  private func approve(_ lines: String...) throws {
    #expect(try git.credential("approve", lines) == Program.Result())
  }

  /// Tells git that a server has refused a password.
  private func reject(_ lines: String...) throws {
    #expect(try git.credential("reject", lines) == Program.Result())
  }

  /// Asks git for a username and a password, and returns these lines of its answer.
  private func fill(_ lines: String...) throws -> [String] {
    let outcome = try git.credential("fill", lines)
    #expect(outcome.status == 0 || outcome.output.isEmpty)
    // For `hasPrefix`, a combining mark after the "=" makes it another character.
    return outcome.output.split(separator: "\n").map(String.init)
      .filter { $0.utf8.starts(with: "username=".utf8) || $0.utf8.starts(with: "password=".utf8) }
  }

  /// Runs a command on ada's password.
  ///
  /// A keyring in the tests' own process would let GLib ignore SIGPIPE, which every child would inherit.
  private func tool(_ command: String..., input: String = "") throws -> String {
    let item = ["--server", host, "--protocol", "https", "--account", "ada"]
    let result = try Program.tool(command + item, input: input)
    #expect(result.status == 0, "\(result)")
    return result.output
  }

  /// Stores an item of ada's on the host, as another program does.
  private func storeTheirs(_ secret: String, label: String, _ attributes: String...) throws {
    let command =
      ["secret-tool", "store", "--label=\(label)", "user", "ada", "protocol", "https"]
      + ["server", host] + attributes
    #expect(try git.run(command, input: secret) == Program.Result())
  }

  @Test(arguments: [
    "s3cret", " two words ", #""quotes' $HOME `id` \"#, "a=b==", "pässwörd 👩‍💻", "\u{301}",
  ])
  func `a password comes back unchanged`(password: String) throws {
    try approve("protocol=https", "host=\(host)", "username=ada", "password=\(password)")
    #expect(try fill("url=https://\(host)") == ["username=ada", "password=\(password)"])
    #expect(try tool("get") == password)
  }

  @Test func `git uses the program under both names`() throws {
    let directory = TemporaryDirectory()
    let command = [Program.toolPath, "git-credential"] + directory.storage
    for helper in ["keyring", "!\(command.joined(separator: " "))"] {
      try git.configure("credential.helper", helper)
      try approve("url=https://ada:a@\(host)")
      #expect(try fill("url=https://\(host)") == ["username=ada", "password=a"])
      try reject("url=https://ada:a@\(host)")
      #expect(try fill("url=https://\(host)") == [])
    }
    #expect(FileManager.default.fileExists(atPath: directory.path("file")))
  }

  @Test func `a username and a path may be any text`() throws {
    try git.configure("credential.useHttpPath", "true")
    let path = "path=a b/\"ü\"=.git"
    try approve("protocol=https", "host=\(host)", path, "username=ada l=ö", "password=a")
    #expect(
      try fill("protocol=https", "host=\(host)", path) == ["username=ada l=ö", "password=a"])
  }

  @Test func `another helper's item with an empty user is erased`() throws {
    let store = ["secret-tool", "store", "--label=Git", "user", "", "protocol", "https"]
    #expect(try git.run(store + ["server", host], input: "theirs") == Program.Result())
    #expect(try fill("url=https://\(host)") == ["username=", "password=theirs"])
    try reject("protocol=https", "host=\(host)", "username=", "password=theirs")
    #expect(try fill("url=https://\(host)") == [])
  }

  // MARK: Lines of newer versions of git, and of other programs

  @Test(arguments: ["get", "store", "erase", "capability", "newer"])
  func `an operation with nothing to do prints nothing`(operation: String) throws {
    let input = "protocol=https\nhost=\(host)\n"
    #expect(try git.run([git.helper, operation], input: input) == Program.Result())
  }

  @Test func `an item of another helper is found and erased`() throws {
    try storeTheirs(
      "theirs\noauth_refresh_token=xyzzy", label: "Git: https://\(host):8443/", "port", "8443")
    #expect(try fill("url=https://\(host):8443") == ["username=ada", "password=theirs"])
    #expect(try fill("url=https://\(host)") == [])
    try reject("url=https://ada:theirs@\(host):8443")
    #expect(try fill("url=https://\(host):8443") == [])
  }

  /// Since version 2.47, git's own helper stores its items with this schema, which replaces them.
  @Test func `git's own helper replaces an item, and stores no second one`() throws {
    try approve("url=https://ada:ours@\(host)")
    try storeTheirs("theirs", label: "Git: https://\(host)/", "xdg:schema", "org.git.Password")
    #expect(try fill("url=https://\(host)") == ["username=ada", "password=theirs"])
    #expect(try count() == 1)
    try approve("url=https://ada:new@\(host)")
    let search = ["search", "--all", "server", host]
    let items = try Program.run("secret-tool", search)
    #expect(items.output.contains("secret = new\n") && items.output.contains("schema = org.git."))
    #expect(try count() == 1)
  }

  /// Returns the number of items of the host, with those that a listing leaves out.
  private func count() throws -> Int {
    let items = try Program.run("secret-tool", ["search", "--all", "server", host])
    return items.output.components(separatedBy: "secret = ").count - 1
  }

  /// Git's own helper has had two schemas, and an earlier version of the tool had the first.
  @Test(arguments: [
    ["org.gnome.keyring.NetworkPassword"], ["org.git.Password"], [],
  ])
  func `other items of the account are found, changed and erased`(schema: [String]) throws {
    if schema.isEmpty {
      _ = try tool("set", input: "old")
    } else {
      try storeTheirs("old", label: "Git: https://\(host)/", "xdg:schema", schema[0])
    }
    #expect(try fill("url=https://\(host)") == ["username=ada", "password=old"])
    try approve("url=https://ada:new@\(host)")
    #expect(try fill("url=https://\(host)") == ["username=ada", "password=new"])
    #expect(try tool("get") == "new")
    #expect(try count() == 1)
    try reject("url=https://ada:new@\(host)")
    #expect(try count() == 0)
  }

  /// It would take a token with its schema for a password.
  @Test func `git's own helper leaves a token`() throws {
    let place = "capability[]=authtype\nprotocol=https\nhost=\(host)\n"
    let token = "authtype=Bearer\ncredential=t\n"
    let store = "\(place)username=ada\n\(token)"
    #expect(try git.run([git.helper, "store"], input: store) == Program.Result())
    try storeTheirs("theirs", label: "Git: https://\(host)/", "xdg:schema", "org.git.Password")
    #expect(try count() == 2)
  }

  @Test func `an item with further attributes isn't git's`() throws {
    try storeTheirs("theirs", label: "Theirs", "folder", "inbox")
    #expect(try fill("url=https://\(host)") == [])
    try approve("url=https://ada:ours@\(host)")
    try reject("url=https://ada:ours@\(host)")
    #expect(try count() == 1)
  }

  /// Other programs choose labels, and an error names them.
  @Test func `an error shows no control characters of a label`() throws {
    for comment in ["one", "two"] {
      try storeTheirs("theirs", label: "\u{1B}]0;title\u{7}\nline \(comment)", "comment", comment)
    }
    let outcome = try git.run([git.helper, "store"], input: "url=https://ada:s3cret@\(host)\n")
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.errors.contains("title"), "\(outcome.errors)")
    #expect(outcome.errors.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 })
    #expect(try git.run(["secret-tool", "clear", "server", host], input: "") == Program.Result())
  }

  @Test func `a failure is one line without the secret`() throws {
    let outcome = try git.run([git.helper, "store"], input: "s3cret\n")
    #expect(
      outcome
        == Program.Result(
          status: 1, errors: "keyring-tool: A line of the input is not name=value.\n"))
    let unreachable = try git.run(
      ["env", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", git.helper, "store"],
      input: "url=https://ada:s3cret@\(host)\n")
    #expect(unreachable.status == 1)
    #expect(unreachable.output.isEmpty)
    #expect(unreachable.errors.hasPrefix("keyring-tool: "))
    #expect(unreachable.errors.split(separator: "\n").count == 1)
    #expect(!unreachable.errors.contains("s3cret"))
  }
}
