// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program in a terminal, with simulated typing.
@Suite(.inPrivateSession, .needs("script"), .needs("stty"), .needs("python3"))
struct TerminalTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private var item: [String] { ["--service", service, "--account", "typed"] }

  @Test func `a typed secret is not echoed`() throws {
    let terminal = try terminal("\(tool("set")); stty -a; \(tool("get --show"))")
    var screen = try terminal.answer("Secret: ", "Again: ", with: "t0p s3cret")
    screen += try terminal.waitFor("speed ")
    #expect(!screen.contains("t0p"))
    // In a terminal, the secret is on its own line.
    try terminal.waitFor(" echo ")
    try terminal.waitFor("t0p s3cret\r\n")
    #expect(try terminal.finish().status == 0)
    #expect(try Program.run("secret-tool", lookup).output == "t0p s3cret")
  }

  /// Otherwise, the next socket that a library opens would be standard output.
  @Test func `a secret goes nowhere if standard output is closed`() throws {
    #expect(try Program.tool(["set"] + item, input: "t0p s3cret").status == 0)
    let result = try Program.run(
      "sh", ["-c", "\"$0\" \"$@\" >&-", Program.toolPath, "get"] + item)
    #expect(result.status == 1 && result.errors.contains("can't be written"), "\(result)")
  }

  @Test func `a terminal shows a secret only on request`() throws {
    #expect(try Program.tool(["set"] + item, input: "t0p s3cret").status == 0)
    let refused = try terminal(tool("get")).finish()
    #expect(refused.status == 64 && refused.output.contains("--show"), "\(refused)")
    #expect(!refused.output.contains("t0p"))
    #expect(try terminal(tool("get --metadata")).finish().output.contains("username=typed"))
    #expect(try terminal(tool("get --show")).finish().output == "t0p s3cret\r\n")
    #expect(try terminal("\(tool("get")) | cat").finish().output == "t0p s3cret")
  }

  @Test func `an empty list says so only in a terminal`() throws {
    for options in ["", "--long"] {
      let list = try terminal(tool("list \(options)")).finish()
      #expect(list.status == 0 && list.output == "keyring-tool: There is no such item.\r\n")
      #expect(try terminal("\(tool("list \(options)")) 2>&1 | cat").finish().output.isEmpty)
    }
    #expect(try terminal(tool("list --json")).finish().output == "[]\r\n")
  }

  @Test func `what was stored is said only in a terminal`() throws {
    let place = "service: \(service), username: typed) in the default collection"
    for command in ["echo s3cret | \(tool("set"))", tool("generate --replace")] {
      let stored = try terminal(command).finish()
      #expect(stored.output == "keyring-tool: stored password (\(place)\r\n", "\(stored)")
      #expect(try terminal("{ \(command); } 2>&1 | cat").finish().output.isEmpty)
    }
  }

  @Test func `a cancelled question, or a line that is too long, stores nothing`() throws {
    for (key, status, advice) in [
      ("\u{1B}", 10, "Nothing was stored."), ("\u{4}", 10, "Nothing was stored."),
      (String(repeating: "x", count: 5000) + "\n", 1, "Pipe the secret in."),
    ] {
      let terminal = try terminal(tool("set"))
      try terminal.waitFor("Secret: ")
      try terminal.type(key)
      let result = try terminal.finish()
      #expect(result.status == status && result.output.contains(advice), "\(result)")
      #expect(!result.output.contains("xxx"))
    }
    #expect(try Program.tool(["get"] + item).status == 3)
  }

  @Test func `a typed secret has no other bytes`() throws {
    let terminal = try terminal(tool("set --binary"))
    try terminal.waitFor("leave out --binary")
    #expect(try terminal.finish().status == 64)
  }

  @Test func `two secrets that differ are refused`() throws {
    let terminal = try terminal(tool("set"))
    try terminal.answer("Secret: ", with: "one")
    try terminal.answer("Again: ", with: "two")
    let result = try terminal.finish()
    #expect(result.status == 1 && result.output.contains("secrets differ"))
    #expect(try Program.tool(["get"] + item).status == 3)
  }

  /// Stops the program with the key, and with the signal that no program can catch.
  ///
  /// The shell shows the input in the meantime, and leaves the echo on when the program continues.
  @Test(arguments: ["TSTP", "STOP"])
  func `a program that was stopped hides its input again`(signal: String) throws {
    let script = """
      bash -c 'set -m; sh -c "echo process \\$\\$; exec \(tool("set"))"; echo stopped; \
      stty -a; stty echo; fg; stty -a'
      """
    let terminal = try terminal(script)
    try terminal.waitFor("process ")
    let process = try #require(Int32(try terminal.waitFor("\r\n")))
    try terminal.waitFor("Secret: ")
    if signal == "TSTP" {
      try terminal.type("half a se\u{1A}")
    } else {
      kill(process, SIGSTOP)
    }
    var screen = try terminal.waitFor("stopped\r\n")
    // Nothing can be done about a signal that can't be caught.
    if signal == "TSTP" { screen += try terminal.waitFor(" echo ") }
    screen += try terminal.answer("Secret: ", "Again: ", with: "t0p s3cret")
    screen += try terminal.waitFor("speed ")
    #expect(!screen.contains("t0p") && !screen.contains("half"), "\(screen)")
    let result = try terminal.finish()
    #expect(result.status == 0 && result.output.contains(" echo "))
    #expect(try Program.run("secret-tool", lookup).output == "t0p s3cret")
  }

  /// The shell takes the terminal back when the process that waits has stopped.
  @Test func `a question of the command run is hidden again, and the terminal isn't`() throws {
    let directory = TemporaryDirectory()
    let storage = "--storage 'file:\(directory.path("file"))' --service s"
    let passphrase = "one two three four"
    let set = try terminal("echo s3cret | '\(Program.toolPath)' set --account a \(storage)")
    try set.answer("New passphrase", "Repeat", with: passphrase)
    #expect(try set.finish().status == 0)
    let script = """
      bash -c 'set -m; "$@"; for time in 1 2 3 4 5 6 7 8; do stty -a; fg; done' bash '\(Program.toolPath)' \
        run \(storage) --file a -- sh -c 'cat "$CREDENTIALS_DIRECTORY/a"; echo " read"'
      """
    let terminal = try terminal(script)
    try terminal.waitFor("Passphrase")
    for _ in 1...8 {
      try terminal.type("half a pa\u{1A}")
      try terminal.waitFor("speed ")
      #expect(try terminal.waitFor("Passphrase").contains(" echo "))
    }
    try terminal.type(passphrase + "\n")
    let result = try terminal.finish()
    #expect(result.output.contains("s3cret read"), "\(result)")
    #expect(!result.output.contains("two"), "\(result)")
  }

  /// The process that waits may run much later than the one that asks, and must leave it alone.
  @Test func `what was typed stays if the process that waits goes on late`() throws {
    let directory = TemporaryDirectory()
    let storage = ["--storage", "file:\(directory.path("file"))", "--service", "s"]
    let set = try terminal(
      "echo s3cret | '\(Program.toolPath)' set --account a '\(storage.joined(separator: "' '"))'")
    try set.answer("New passphrase", "Repeat", with: "one two three four")
    #expect(try set.finish().status == 0)
    // A shell continues both processes at once.
    let shell = """
      import os, signal, sys
      signal.signal(signal.SIGTTOU, signal.SIG_IGN)
      tool = os.fork()
      if tool == 0:
          os.setpgid(0, 0)
          os.tcsetpgrp(0, os.getpid())
          os.execv(sys.argv[1], sys.argv[1:])
      os.waitpid(tool, os.WUNTRACED)
      print("process", tool, flush=True)
      child = open(f"/proc/{tool}/task/{tool}/children").read().split()[0]
      os.kill(int(child), signal.SIGCONT)
      os.waitpid(tool, 0)
      """
    let program = directory.path("shell")
    try shell.write(toFile: program, atomically: true, encoding: .utf8)
    let terminal = try terminal(
      "python3 '\(program)' '\(Program.toolPath)' run '\(storage.joined(separator: "' '"))' --file a -- "
        + "sh -c 'cat \"$CREDENTIALS_DIRECTORY/a\"; echo \" read\"'")
    try terminal.waitFor("Passphrase")
    try terminal.type("\u{1A}")
    try terminal.waitFor("process ")
    let process = try #require(Int32(try terminal.waitFor("\r\n")))
    try terminal.waitFor("Passphrase")
    try terminal.type("one two ")
    kill(process, SIGCONT)
    while try !isWaiting(process) { try #require(sched_yield() == 0) }
    try terminal.type("three four\n")
    let result = try terminal.finish()
    #expect(result.output.contains("s3cret read"), "\(result)")
    #expect(!result.output.contains("Passphrase"), "\(result)")
  }

  /// Whether a process has handled its signals and waits.
  private func isWaiting(_ process: Int32) throws -> Bool {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return status.contains("State:\tS") && status.contains("ShdPnd:\t0000000000000000")
  }

  private var lookup: [String] { ["lookup", "service", service, "username", "typed"] }

  private func tool(_ command: String) -> String {
    "'\(Program.toolPath)' \(command) \(item.joined(separator: " "))"
  }

  private func terminal(_ command: String) throws -> Program {
    try Program.inTerminal(command: command)
  }
}
