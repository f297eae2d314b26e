// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of programs whose output passes through the tool, which hides secrets in it.
@Suite(.inPrivateSession, .needs("script"), .needs("stty"), .needs("python3"))
struct HidingTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private let directory = TemporaryDirectory()
  private let secret = "t0p s3cret value"
  private var run: [String] { ["run", service, "--hide"] }

  init() throws {
    #expect(try Program.tool(["set", service, "TOKEN"], input: secret).status == 0)
  }

  /// The command line that runs a script of a shell with the secret, in single quotes.
  private func tool(_ script: String) -> String {
    "'\(Program.toolPath)' run \(service) --hide -- sh -c '\(script)'"
  }

  @Test(arguments: [[], ["--file", "TOKEN", "--env", "TOKEN"]])
  func `secrets are hidden in both outputs, and the status passes`(options: [String]) throws {
    let script = """
      test ! -t 1 && test ! -t 2 && cat
      printf "%.7s" "$TOKEN"; printf "%s|\\n" "${TOKEN#t0p s3c}" "$TOKEN" "${TOKEN% *}"
      if [ "$CREDENTIALS_DIRECTORY" ]; then cat "$CREDENTIALS_DIRECTORY/TOKEN"; fi
      echo "error $TOKEN" >&2; exit 7
      """
    let result = try Program.tool(
      ["run", "--service", service, "--hide"] + options + ["--", "sh", "-c", script], input: "in\n")
    let file = options.isEmpty ? "" : "<redacted>"
    #expect(result.output == "in\n<redacted>|\n<redacted>|\nt0p s3cret|\n\(file)", "\(result)")
    #expect(result.errors == "error <redacted>\n" && result.status == 7, "\(result)")
  }

  @Test func `a secret of a server or a reference is hidden, a login isn't`() throws {
    let host = "\(UUID().uuidString.lowercased()).example.org"
    #expect(
      try Program.tool(["set", "--server", host, "--account", "ada"], input: "pa55w0rd").status == 0
    )
    let mine = ["set", "--service", service, "--credential", "mine", "--login", "ada"]
    #expect(try Program.tool(mine, input: "0ther pa55").status == 0)
    let reference = "keyring://\(service)?credential=mine"
    try "A=\(reference)\nB=\(reference)&login\nC=1\n".write(
      toFile: directory.path("env"), atomically: true, encoding: .utf8)
    let result = try Program.tool(
      ["run", "--hide", "--netrc", host, "--env-file", directory.path("env")]
        + ["--", "sh", "-c", "cat \"$NETRC\"; echo $A $B $C"])
    #expect(
      result.output == "machine \(host) login ada password <redacted>\n<redacted> ada 1\n",
      "\(result)")
  }

  @Test(arguments: ["", "7 bytes", "7 bytes\n"])
  func `a secret that is too short is refused by its name`(short: String) throws {
    let set = ["set", service, "SHORT", "--empty", "--binary"]
    #expect(try Program.tool(set, input: short).status == 0)
    for more in [["--dry-run"], []] {
      let result = try Program.tool(run + more + ["--", "echo", "started"])
      #expect(result.status == 1 && result.output.isEmpty, "\(result)")
      #expect(result.errors.contains("The secret of SHORT has fewer than 8 bytes."), "\(result)")
    }
  }

  @Test(arguments: [("/nonexistent", 127), ("/etc/passwd", 126)])
  func `the status says whether the program was started`(path: String, status: Int32) throws {
    let result = try Program.tool(run + ["--", path])
    #expect(result.status == status && result.errors.contains("can't be started"), "\(result)")
    let terminal = try Program.inTerminal(["run", service, "--hide", "--", path]).finish()
    #expect(
      terminal.status == status && terminal.output.contains("can't be started"), "\(terminal)")
  }

  /// The last four end only the tool.
  @Test(
    arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGSEGV, SIGSYS, 40], [false, true])
  func `signals end the tool as they end the program, and the terminal works as before`(
    number: Int32, isInTerminal: Bool
  ) throws {
    let script = """
      bash -c 'echo process $$; exec \(Program.toolPath) run \(service) --hide -- sh -c "echo ready; exec cat"'
      echo status $?; stty -a
      """
    let program =
      try isInTerminal
      ? Program.inTerminal(command: script) : Program.inTerminal(command: "(\(script)) 2>&1 | cat")
    try program.waitFor("process ")
    let process = try #require(Int32(try program.waitFor("\n").filter(\.isNumber)))
    try program.waitFor("ready")
    kill(process, number)
    try program.waitFor("status \(128 + number)")
    let settings = try program.finish().output
    #expect(settings.contains(" echo ") && settings.contains(" icanon "), "\(settings)")
  }

  @Test func `a program that the program has left running isn't waited for`() throws {
    // It inherits no other descriptors. Foundation waits until the one is closed that it gives to the tool.
    let left = #"import subprocess; print(subprocess.Popen(["sleep", "1000"]).pid)"#
    let arguments = run + ["--", "python3", "-c", left]
    for result in [
      try Program.tool(arguments), try Program.inTerminal(arguments).finish(),
    ] {
      let process = try #require(Int32(result.output.filter(\.isNumber)), "\(result)")
      #expect(kill(process, SIGKILL) == 0, "it has ended")
    }
  }

  @Test func `a closed output ends the program`() throws {
    let result = try Program.run(
      "bash",
      [
        "-c",
        "'\(Program.toolPath)' run \(service) --hide -- yes | head -n 1; echo ${PIPESTATUS[0]}",
      ])
    #expect(result.output == "y\n141\n", "\(result)")
  }

  @Test func `much output passes unchanged`() throws {
    // The two outputs aren't read at the same time.
    let script = "seq 300000; printf %s \"$TOKEN\"; seq 300000 >&2"
    let errors = directory.path("errors")
    let result = try Program.run("sh", ["-c", "\(tool(script)) 2>'\(errors)'"])
    let lines = (1...300_000).map { "\($0)\n" }.joined()
    #expect(result.output == lines + "<redacted>")
    #expect(try String(contentsOfFile: errors, encoding: .utf8) == lines)
  }

  @Test func `on a terminal, the program has a terminal of its own`() throws {
    let script = """
      stty rows 33 cols 77; tty
      \(tool(#"test -t 0 && test -t 1 && test -t 2 && stty size; tty; echo "$TOKEN"; exit 3"#)); echo status $?
      \(tool("test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?; cat")) <<<"in" 2>/dev/null
      \(tool("test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $? $TOKEN >&2")) | (all=$(cat); echo "$all")
      """
    let result = try Program.inTerminal(
      command: "bash -c \"$(cat <<'END'\n\(script)\nEND\n)\""
    ).finish()
    // Both terminals add a carriage return where the outer one doesn't pass keys on.
    let output = result.output.replacing("\r\r\n", with: "\r\n")
    let lines = output.split(separator: "\r\n").map(String.init)
    try #require(lines.count == 12, "\(result)")
    #expect(lines[1] == "33 77" && lines[0] != lines[2] && lines[2].hasPrefix("/dev/pts/"))
    #expect(lines[3...4] == ["<redacted>", "status 3"])
    #expect(lines[5...8] == ["1", "0", "1", "in"])
    #expect(lines[9...] == ["0 <redacted>", "0", "1"])
  }

  @Test func `a secret of several lines is hidden on a terminal`() throws {
    #expect(try Program.tool(["set", service, "KEY"], input: "line one\nline two\n").status == 0)
    let result = try Program.inTerminal(command: tool("echo \"$KEY.\"")).finish()
    #expect(result.output == "<redacted>.\r\n", "\(result)")
  }

  @Test func `keys reach the program once, and so does a new size`() throws {
    let script = """
      import os, signal
      signal.signal(signal.SIGINT, signal.SIG_DFL)
      signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
      print("line", input("ready? "))
      while signal.sigwait({signal.SIGWINCH}): print("size", *os.get_terminal_size(), flush=True)
      """
    try script.write(toFile: directory.path("program"), atomically: true, encoding: .utf8)
    let terminal = try Program.inTerminal(
      command: """
        echo "<$(tty)>"; '\(Program.toolPath)' run \(service) --hide -- python3 '\(directory.path("program"))'
        echo status $?; stty -a
        """)
    try terminal.waitFor("<")
    let outer = try terminal.waitFor(">")
    try terminal.waitFor("ready? ")
    try terminal.type("hello\n")
    #expect(try terminal.waitFor("line hello\r\n") == "hello\r\n")
    #expect(try Program.run("stty", ["-F", outer, "rows", "44", "cols", "99"]).status == 0)
    try terminal.waitFor("size 99 44")
    try terminal.type("\u{3}")
    try terminal.waitFor("status 130")
    #expect(try terminal.finish().output.contains(" echo "))
  }

  /// The signal goes to the tool alone.
  @Test(arguments: ["--hide", "--file TOKEN", "--hide --file TOKEN"])
  func `a program that has stopped goes on with the tool`(options: String) throws {
    let script = """
      (until grep -q "^State:.T" /proc/$$/status; do :; done; echo stopped) & kill -STOP $$; echo goes on
      """
    let tool = "'\(Program.toolPath)' run --service \(service) \(options) -- sh -c '\(script)'"
    let program = try Program("python3", ["-c", Program.free, "sh", "-c", "exec \(tool)"])
    try program.waitFor("stopped")
    program.send(SIGCONT)
    #expect(try program.finish() == .init(output: "\ngoes on\n"))
  }

  /// A shell leaves a loop when the key stops a program in it.
  @Test(arguments: [("", 148), ("> >(cat) 2>&1", 148), ("--file TOKEN", 147)], ["", "--hide"])
  func `the key that stops the program stops the tool, which shows input again`(
    options: (text: String, status: Int), hide: String
  ) throws {
    let next = "echo stopped $?; stty -a; fg;"
    let terminal = try Program.inTerminal(
      command: """
        bash -c 'set -m; \(Program.toolPath) run --service \(service) \(hide) \(options.text) -- \
        sh -c "echo ready; while read line; do echo got \\$line; done; exit 5"; \(next) \(next) \(next) echo $? end'
        """)
    try terminal.waitFor("ready")
    for _ in 1...3 {
      try terminal.type("\u{1A}")
      try terminal.waitFor("stopped \(options.status)")
      // The shell writes the command when it continues it.
      #expect(try terminal.waitFor("read line").contains(" icanon "))
      try terminal.type("a line\n")
      try terminal.waitFor("got a line")
    }
    try terminal.type("\u{4}")
    try terminal.waitFor("5 end")
    _ = try terminal.finish()
  }

  /// Without the tool, a program in the background stops when it reads the terminal.
  @Test func `a program in the background begins to read in the foreground`() throws {
    let terminal = try Program.inTerminal(
      command: """
        bash -c 'set -m; \(Program.toolPath) run \(service) --hide -- \
        sh -c "read line; echo got \\$line" & wait $!; echo stopped $?; stty -a; fg; echo ended $?'
        """)
    #expect(try terminal.waitFor("stopped 148").isEmpty == false)
    #expect(try terminal.waitFor("read line").contains(" echo "))
    try terminal.type("a line\n")
    try terminal.waitFor("got a line")
    try terminal.waitFor("ended 0")
    _ = try terminal.finish()
  }
}
