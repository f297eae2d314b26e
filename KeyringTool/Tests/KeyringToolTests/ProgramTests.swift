// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program on the keyring of a private session.
@Suite(.inPrivateSession, .needs("secret-tool"))
struct ProgramTests {
  private let service = "keyring-tool-\(UUID().uuidString)"

  @Test func `the program sets, gets, lists and removes items`() throws {
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
    #expect(again.status == 4 && again.errors.contains("leave out --add") && again.output.isEmpty)
    #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
    #expect(try Program.run("secret-tool", lookup).status != 0)
  }

  @Test func `arguments are shorter than options`() throws {
    #expect(try Program.tool(["set", service, "me"], input: "s3cret").status == 0)
    #expect(try Program.tool(["get", service, "me"]).output == "s3cret")
    #expect(try Program.tool(["list", service]).output.contains("username=me"))
    #expect(try Program.tool(["get", service, "--account", "me"]).output == "s3cret")
    #expect(try Program.tool(["remove", "--service", service, "--account", "me"]).status == 0)
    let server = ["get", "me", "--server", service]
    for arguments in [["get", service, "--service", service], server] {
      #expect(try Program.tool(arguments).status == 64)
    }
  }

  @Test func `expired items are found`() throws {
    let item = ["--service", service, "--account"]
    let stale = ["generate", "--expires", "2020-01-01"] + item + ["stale"]
    #expect(try Program.tool(stale).status == 0)
    let fresh = ["set", "--expires", "90d"] + item + ["fresh"]
    #expect(try Program.tool(fresh, input: "s3cret").status == 0)
    let lookup = ["lookup", "service", service, "expires", "2020-01-01T00:00:00Z"]
    #expect(try Program.run("secret-tool", lookup).output.count == 32)
    let expired = try Program.tool(["list", "--expired", "--service", service]).output
    #expect(expired.contains("username=stale") && !expired.contains("username=fresh"))
    let json = try Program.tool(["list", "--json"] + item + ["fresh"]).output
    #expect(json.contains(#""isExpired":false"#))
    #expect(try Program.tool(["remove", "--all", "--service", service]).output == "removed 2\n")
  }

  @Test func `a search without a result prints nothing`() throws {
    let missing = try Program.tool(["get", "--service", service, "--account", "me"])
    #expect(missing.status == 3 && missing.output.isEmpty)
    #expect(missing.errors.contains("There is no password"))
    for options in [[], ["--long"]] {
      let list = try Program.tool(["list", "--service", service] + options)
      #expect(list.status == 0 && list.output.isEmpty)
    }
    for storage in [["--collection", service], ["--storage", "file:/nonexistent/\(service)"]] {
      let list = try Program.tool(["list"] + storage)
      #expect(list.status == 3 && list.output.isEmpty && !list.errors.isEmpty, "\(list)")
    }
    for arguments in [
      ["remove", "--all"], ["remove", "--account", "me"], ["export", "--to", "keyring:session"],
      ["import", "keyring:session"], ["move", "--all", "--to", "session"],
    ] {
      let result = try Program.tool(arguments + ["--service", service])
      #expect(result.status == 3 && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains("There is no"))
    }
  }

  @Test func `a selection that fits several items asks for the missing part`() throws {
    for account in ["ada", "bob"] {
      let set = ["set", "--server", service, "--protocol", "https", "--account", account]
      #expect(try Program.tool(set, input: "s3cret") == Program.Result())
      #expect(try Program.tool(["set", service, account], input: "s3cret") == Program.Result())
    }
    for command in ["get", "remove"] {
      let server = try Program.tool([command, "--server", service])
      #expect(server.status == 3 && server.output.isEmpty)
      let one = "  --server \(service) --protocol https --account"
      #expect(server.errors.contains("\(one) ada\n") && server.errors.contains("\(one) bob\n"))
      let account = try Program.tool([command, service])
      #expect(account.status == 64 && account.output.isEmpty)
      #expect(account.errors.contains("Specify an account"))
      #expect(account.errors.contains("  --service \(service) --account bob\n"))
      #expect(account.errors.contains("Usage: keyring-tool \(command) "), "\(account.errors)")
    }
    let plain = try Program.tool(["set", "--server", service, "--account", "x"], input: "s3cret")
    #expect(plain.status == 0 && plain.errors.contains("only with --protocol."))
    #expect(try Program.tool(["rm", "--all", "--server", service]).output == "removed 3\n")
    #expect(try Program.tool(["ls", service]).output.contains("username=ada"))
  }

  /// git-credential-libsecret stores such items.
  @Test func `items with empty parts are shown, copied and removed`() throws {
    for attributes in [
      ["server", service, "protocol", "https", "user", ""],
      ["server", "\(service)2", "protocol", "https", "user", "", "port", "", "object", ""],
    ] {
      try Program.storeTheirs(attributes, label: "empty", secret: "s3cret")
      let item = ["--server", attributes[1], "--protocol", "https"]
      #expect(try Program.tool(["get"] + item).output == "s3cret")
      #expect(try Program.tool(["get", "--account", ""] + item).output == "s3cret")
      #expect(try Program.tool(["get", "--metadata"] + item).output.contains("label: empty"))
      let directory = TemporaryDirectory()
      let file = ["--to", "file:\(directory.path("f"))", "--to-key-file", directory.path("k")]
      let export = try Program.tool(["export"] + item + file)
      #expect(export.output == "copied 1\n" && export.errors.isEmpty, "\(export)")
      #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
      let back = ["file:\(directory.path("f"))", "--from-key-file", directory.path("k")]
      #expect(try Program.tool(["import"] + item + back).output == "copied 1\n")
      #expect(try Program.tool(["remove"] + item + ["--account", ""]).output == "removed 1\n")
    }
  }

  @Test func `an unknown command suggests one, and isn't repeated`() throws {
    for (name, suggestion) in [
      ("lookup", "Did you mean \"get\"?"), ("exprot", "Did you mean \"export\"?"), ("s3cret", ""),
    ] {
      let result = try Program.tool([name, "s3cret"])
      #expect(result.status == 64 && result.errors.contains("There is no such command."))
      #expect(suggestion.isEmpty || result.errors.contains(suggestion))
      #expect(!result.errors.contains("s3cret"))
    }
    #expect(try Program.tool(["help", "get"]).output.contains("USAGE: keyring-tool get"))
  }

  @Test func `without a terminal, a passphrase can come from a key file`() throws {
    #expect(try Program.tool(["set", service, "me"], input: "s3cret").status == 0)
    let directory = TemporaryDirectory()
    let export = [
      Program.toolPath, "export", "--service", service, "--to", "file:\(directory.path("f"))",
    ]
    let result = try Program.run("setsid", ["--wait"] + export)
    #expect(result.status == 2 && result.errors.contains("--to-key-file"), "\(result)")
  }

  /// The keyring's prompt may be where the user doesn't look, as when git runs the tool.
  @Test(.needs("python3")) func `a wait for the keyring is explained`() throws {
    let directories = [TemporaryDirectory(), TemporaryDirectory()]
    let program = try Program.onSilentBus(["get", "a", "b"], in: directories[0])
    let early = try program.waitFor("waiting for the keyring, which may show a prompt")
    #expect(early == "keyring-tool: ")
    let quiet = ["get", "a", "b", "--no-prompt", "--timeout", "5"]
    #expect(
      try !Program.onSilentBus(quiet, in: directories[1]).finish().output.contains("waiting"))
  }

  @Test func `items of other programs are found and moved`() throws {
    // A label of another program can contain a slash, which this package doesn't use in labels.
    try Program.storeTheirs(
      ["service", service, "username", "me", "note", "kept"], label: "a/b", secret: "s3cret")
    let item = ["--service", service, "--account", "me", "--attribute", "note=kept"]
    #expect(try Program.tool(["get"] + item).output == "s3cret")
    #expect(try Program.tool(["move", "--to", "session"] + item).output == "moved 1\n")
    let there = ["--collection", "session"] + item
    let metadata = try Program.tool(["get", "--metadata"] + there).output
    #expect(metadata.contains("label: a-b") && metadata.contains("note=kept"))
    let back = try Program.tool(["move", "--storage", "keyring:session"] + item)
    #expect(back.output == "moved 1\n", "\(back)")
  }

  private static let shapes: [[String]] = [
    ["service", "SERVICE", "username", "me", "folder", "in box"],
    ["service", "SERVICE", "account", "K1"],
    ["service", "SERVICE", "username", "me", "xdg:schema", "org.example.Mail"],
    ["service", "SERVICE", "xdg:schema", "org.example.Mail"],
    ["server", "SERVICE", "user", "me", "xdg:schema", "org.qt.keychain"],
    ["server", "SERVICE", "user", "me", "type", "plaintext", "xdg:schema", "org.qt.keychain"],
  ]

  @Test(arguments: shapes)
  func `what is printed of another program's item selects it`(shape: [String]) throws {
    let attributes = shape.map { $0 == "SERVICE" ? service : $0 }
    try Program.storeTheirs(attributes)
    for fewer in [["--service", service, "--account", "me"], ["--server", service]] {
      #expect(try Program.tool(["remove"] + fewer).status == 3)
    }
    let name = attributes[0]
    let missing = try Program.tool(["get", "--attribute", "\(name)=\(service)"])
    let printed =
      missing.status == 0
      ? "  --attribute \(name)=\(service)"
      : try #require(missing.errors.split(separator: "\n").first { $0.hasPrefix("  --") })
    let command = "exec \"$0\" \"$1\"\(printed)"
    let get = try Program.run("sh", ["-c", command, Program.toolPath, "get"])
    #expect(get.output == "theirs", "\(missing) \(get)")
    let remove = try Program.run("sh", ["-c", command, Program.toolPath, "remove"])
    #expect(remove.output == "removed 1\n", "\(remove)")
    #expect(try Program.run("secret-tool", ["search", name, service]).output.isEmpty)
  }

  @Test func `all items are those of this package, and the others are named`() throws {
    try Program.storeTheirs(["service", service, "username", "me", "folder", "inbox"])
    #expect(try Program.tool(["set", service, "me"], input: "ours").status == 0)
    let left =
      "keyring-tool: left: password (folder: inbox, service: \(service), username: me), which"
    let directory = TemporaryDirectory()
    let file = ["file:\(directory.path("f"))", "--to-key-file", directory.path("k")]
    for (command, output) in [
      (["export", service, "--to"] + file, "copied 1\n"),
      (["rename", service, "--all", "--to-account", "you"], "renamed 1\n"),
      (["move", service, "--all", "--to", "session"], "moved 1\n"),
    ] {
      let result = try Program.tool(command)
      #expect(result.status == 0 && result.output == output, "\(result)")
      #expect(result.errors.hasPrefix(left) && result.errors.contains("--all-programs"))
    }
    let none = try Program.tool(["remove", service, "--all"])
    #expect(none.status == 3 && none.output.isEmpty && none.errors.hasPrefix(left), "\(none)")
    #expect(try Program.run("secret-tool", ["lookup", "folder", "inbox"]).output == "theirs")
    let all = try Program.tool(["remove", service, "--all", "--all-programs"])
    #expect(all.output == "removed 1\n" && all.errors.isEmpty, "\(all)")
    #expect(try Program.tool(["list", service]).output.isEmpty)
    let session = ["remove", service, "--all", "--collection", "session"]
    #expect(try Program.tool(session).output == "removed 1\n")
  }

  @Test func `the schema of another program's item only changes with its name`() throws {
    try Program.storeTheirs(["service", service, "username", "me"])
    let rename = ["rename", service, "me", "--to-schema", "org.example.Mail"]
    let refused = try Program.tool(rename)
    #expect(refused.status == 1 && refused.errors.contains("Another program"), "\(refused)")
    #expect(try Program.tool(["get", service, "me"]).output == "theirs")
    #expect(try Program.tool(rename + ["--to-account", "you"]).output == "renamed 1\n")
    let schema = ["--schema", "org.example.Mail"]
    #expect(try Program.tool(["get", service, "you"] + schema).output == "theirs")
    #expect(try Program.tool(["remove", service, "you"] + schema).output == "removed 1\n")
  }

  @Test func `changes of one schema are watched`() throws {
    let watch = "exec \"$0\" watch \(service) --schema org.x 2>&1"
    let program = try Program("sh", ["-c", watch, Program.toolPath])
    try program.waitFor("watching")
    for schema in [[], ["--schema", "org.x"]] {
      #expect(try Program.tool(["set", service, "me"] + schema, input: "s3cret").status == 0)
    }
    let line = "created password (service: \(service), username: me, xdg:schema: org.x)\n"
    #expect(try program.waitFor(line) == "\n")
  }

  /// GLib ignores SIGPIPE in the whole process.
  @Test(arguments: [("True", "-13\n"), ("False", "1\n")])
  func `a program whose output nobody reads ends as others do`(
    restoring: String, status: String
  ) throws {
    let script = """
      import os, subprocess, sys
      reading, writing = os.pipe()
      os.close(reading)
      print(subprocess.run(
          sys.argv[1:], stdout=writing, stderr=sys.stdout, restore_signals=\(restoring)).returncode)
      """
    let watch = try Program("python3", ["-c", script, Program.toolPath, "watch", service])
    try watch.waitFor("watching\n")
    #expect(try Program.tool(["set", service, "me"], input: "s3cret").status == 0)
    #expect(try watch.finish().output.hasSuffix(status))
  }

  @Test func `the program keeps credentials and internet passwords`() throws {
    let credential = ["--service", service, "--credential", "mine"]
    #expect(
      try Program.tool(["set"] + credential + ["--login", "ada"], input: "pa55").status == 0)
    #expect(try Program.tool(["get"] + credential).output == "pa55")
    #expect(
      try Program.tool(["get", "--metadata"] + credential).output.contains("username=ada"))

    let server = [
      "--server", service, "--protocol", "https", "--port", "8443", "--path", "/git",
      "--domain", "realm", "--authentication", "http-basic",
    ]
    #expect(try Program.tool(["set"] + server + ["--account", "me"], input: "s3cret").status == 0)
    let attributes = [
      "server", service, "port", "8443", "object", "/git", "domain", "realm", "authtype",
      "http-basic", "user", "me",
    ]
    #expect(try Program.run("secret-tool", ["lookup"] + attributes).output == "s3cret")
    #expect(try Program.run("secret-tool", ["search"] + attributes).errors.contains("= https"))
    #expect(try Program.tool(["list", "--server", service]).output.contains("user=me"))
    #expect(try Program.tool(["remove", "--all", "--server", service]).output == "removed 1\n")
    #expect(try Program.tool(["remove", "--all", "--service", service]).output == "removed 1\n")
  }

  @Test func `a move to the same collection by another name loses nothing`() throws {
    let item = ["--service", service, "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
    let lines = try Program.tool(["collections"]).output.split(separator: "\n")
    let line = try #require(lines.first { $0.hasSuffix("  (default)") })
    let label = String(line.dropFirst("unlocked  ".count).dropLast("  (default)".count))
    let move = try Program.tool(["move", "--replace", "--collection", label] + item)
    #expect(move.status == 1 && move.errors.contains("already in that collection"))
    #expect(try Program.tool(["get"] + item).output == "s3cret")
    #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
    #expect(try Program.tool(["list", "--service", "keyring-tool move"]).output.isEmpty)
  }

  @Test func `a program that doesn't read its input doesn't end the tests`() throws {
    #expect(try Program.run("true", [], input: Data(count: 1 << 20)).status == 0)
  }

  @Test func `every command prints the version`() throws {
    let version = try Program.tool(["--version"])
    #expect(version.status == 0 && version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    #expect(try Program.tool(["get", "--version"]).output == version.output)
  }

  @Test(arguments: [
    ["get", "--service", "x"], ["get", "--service", "x", "--show", "--metadata"],
    ["set", "--service", "x", "--credential", "x"], ["remove", "--all"],
    ["list", "--port", "1"], ["list", "--attribute", "x"], ["remove", "x", "--all-programs"],
    ["list", "--attribute", "x=1", "--attribute", "x=2"],
    ["list", "x", "--attribute", "service=x"],
    ["remove", "x", "--all", "--schema", "x"], ["move", "--service", "x", "--account", "x"],
    ["collections", "--create", "x", "--delete", "x"], ["collections", "--storage", "keyring:x"],
    ["set", "--service", "x", "--account", "x", "--expires", "tomorrow"], ["generate", "x", "20"],
  ])
  func `unclear arguments are refused`(arguments: [String]) throws {
    let result = try Program.tool(arguments)
    #expect(result.status == 64 && result.output.isEmpty && result.errors.contains("Usage:"))
  }

  @Test(arguments: [
    ["s3cret"], ["s3cret", "a"], ["set", "a", "b", "s3cret"], ["set", "a", "b", "c", "s3cret"],
    ["set", "a", "b", "-s3cret"],
    ["set", "a", "b", "-p's3cret'"], ["set", "a", "b", "--password=s3cret"],
    ["set", "a", "b", "--binary=s3cret"], ["set", "a", "b", "--expires", "s3cret"],
    ["docker-credential", "store", "s3cret"], ["git-credential", "store", "s3cret"],
    ["run", "--service", "x", "--env", "X", "s3cret", "--", "true"],
  ])
  func `a secret among the arguments isn't repeated`(arguments: [String]) throws {
    let result = try Program.tool(arguments)
    #expect(result.status == 64 && !"\(result)".contains("s3cret"), "\(result)")
    #expect(result.errors.hasPrefix("Error: ") && result.errors.contains("Usage:"))
  }

  @Test func `the doctor finds nothing wrong and leaves nothing behind`() throws {
    let look = try Program.tool(["doctor"])
    #expect(look.status == 0 && look.output.contains("gnome-keyring-daemon"))
    #expect(!look.output.contains("writing"))
    let version = try Program.run("gnome-keyring-daemon", ["--version"]).output
    let number = try #require(version.firstMatch(of: #/: ([0-9.]+)\n/#)?.1)
    #expect(look.output.contains("version      gnome-keyring-daemon \(number)\n"))
    let write = try Program.tool(["doctor", "--write"])
    #expect(write.status == 0 && write.output.contains("writing      works"))
    #expect(try Program.tool(["list", "--service", "swift-keyring probe"]).output.isEmpty)
  }

  @Test func `the doctor fails without a bus or a collection`() throws {
    let variables = ["DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus", Program.toolPath]
    let result = try Program.run("env", variables + ["doctor", "--json"])
    #expect(result.status == 5 && result.output.contains(#""failure":"noSessionBus""#))
    let collection = try Program.tool(["doctor", "--collection", service])
    #expect(collection.status == 3 && collection.output.contains("choose another collection"))
  }

  @Test func `a secret that cannot be written to the output is a failure`() throws {
    let item = ["--service", service, "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
    let get = ["-c", "exec \"$0\" get \"$@\" >/dev/full", Program.toolPath] + item
    #expect(try Program.run("sh", get).status == 1)
  }

  @Test func `a generated password isn't printed, and replaces nothing unasked`() throws {
    let item = ["--service", service, "--account", "me"]
    let generated = try Program.tool(["generate"] + item)
    #expect(generated.status == 0 && generated.output.isEmpty)
    let password = try Program.tool(["get"] + item).output
    #expect(password.count == 32 && password.allSatisfy { $0.isLetter || $0.isNumber })
    #expect(try Program.tool(["generate"] + item).status == 4)
    #expect(try Program.tool(["generate", "--replace", "--length", "8"] + item).status == 0)
    #expect(try Program.tool(["get"] + item).output.count == 8)
  }

  @Test func `an empty secret is stored only on request`() throws {
    let item = ["--service", service, "--account", "me"]
    let refused = try Program.tool(["set"] + item)
    #expect(refused.status == 1 && refused.errors.contains("--empty"))
    #expect(try Program.tool(["get"] + item).status == 3)
    #expect(try Program.tool(["set", "--empty"] + item).status == 0)
    #expect(try Program.tool(["get"] + item).status == 0)
  }
}
