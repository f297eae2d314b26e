// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the command that runs another program with secrets.
@Suite(.inPrivateSession, .needs("python3"))
struct RunTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private var item: [String] { ["--service", service, "--account", "me"] }
  private var run: [String] { ["run", "--service", service] }

  /// A program that starts another one with all signals unblocked.
  ///
  /// Dispatch's threads block signals, and their children do so too.
  private static let free = """
    import os, signal, sys
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.execvp(sys.argv[1], sys.argv[1:])
    """

  private func withSecret(_ secret: String = "s3cret", _ body: () throws -> Void) throws {
    #expect(try Program.tool(["set"] + item, input: secret).status == 0)
    defer { _ = try? Program.tool(["remove"] + item) }
    try body()
  }

  @Test func `the program gets files, variables, and its own arguments`() throws {
    try withSecret {
      let script = """
        cd "$CREDENTIALS_DIRECTORY" && cat token && echo " $TOKEN $PWD" && stat -c %a . token && \
        stat -f -c %T . && printf '%s|' "$@"; exit 7
        """
      let result = try Program.tool(
        run + ["--file", "token=me", "--env", "TOKEN=me", "--", "sh", "-c", script, "sh"]
          + ["-a", "", "--help", "a b"])
      let lines = result.output.split(separator: "\n").map(String.init)
      #expect(result.status == 7 && lines.first?.hasPrefix("s3cret s3cret /") == true, "\(result)")
      #expect(Array(lines.dropFirst()) == ["700", "400", "tmpfs", "-a||--help|a b|"], "\(result)")
      let directory = try #require(lines.first?.split(separator: " ").last.map(String.init))
      #expect(!FileManager.default.fileExists(atPath: directory))
    }
  }

  @Test func `the rest of the environment stays as it is`() throws {
    try withSecret {
      func variables(_ name: String, _ arguments: [String]) throws -> Set<String> {
        let output = try Program.run(name, arguments).output
        return Set(output.split(separator: "\0").map(String.init))
      }
      let before = try variables("env", ["-0"])
      let tool = run + ["--env", "TOKEN=me", "--", "env", "-0"]
      let inside = try variables(Program.toolPath, tool)
      #expect(inside.symmetricDifference(before) == ["TOKEN=s3cret"])
    }
  }

  @Test func `the program finds the passwords of servers`() throws {
    let host = "\(UUID().uuidString.lowercased()).example.org"
    let server = ["--server", host, "--account", "ada"]
    #expect(try Program.tool(["set"] + server, input: "pa55").status == 0)
    // An independent reader of the format.
    let script = """
      import netrc, os, stat, sys
      path = os.environ["NETRC"]
      print(netrc.netrc(path).authenticators(sys.argv[1]), oct(os.stat(path).st_mode), path)
      """
    let result = try Program.tool(
      ["run", "--netrc", host, "--", "python3", "-c", script, host])
    #expect(result.output.hasPrefix("('ada', '', 'pa55') 0o100400 /"), "\(result)")
    let path = try #require(result.output.split(whereSeparator: \.isWhitespace).last)
    #expect(!FileManager.default.fileExists(atPath: String(path)))
    let missing = try Program.tool(
      ["run", "--netrc", "\(host)=bob", "--", "echo", "started"])
    #expect(missing.status == 3 && missing.output.isEmpty)
    #expect(try Program.tool(["remove"] + server).output == "removed 1\n")
  }

  @Test(arguments: [
    ["run", "--", "true"], ["run", "--netrc", "x"], ["run", "--netrc", "=", "--", "true"],
    ["run", "--netrc", "x", "--service", "y", "--", "true"], ["run", "--file", "x", "--", "true"],
    ["run", "--service", "x", "--file", "netrc", "--netrc", "x", "--", "true"],
    ["run", "--service", "x", "--env", "NETRC", "--netrc", "x", "--", "true"],
    ["run", "--service", "x", "--env", "CREDENTIALS_DIRECTORY", "--netrc", "x", "--", "true"],
  ])
  func `unclear runs are refused`(arguments: [String]) throws {
    let result = try Program.tool(arguments)
    #expect(result.status == 64 && result.errors.contains("Usage:"), "\(result)")
  }

  @Test func `a program without its secret isn't started`() throws {
    try withSecret {
      let result = try Program.tool(
        run + ["--file", "token=me", "--file", "other", "--", "echo", "started"])
      #expect(result.status == 3 && result.output.isEmpty)
      #expect(result.errors.contains("username: other"), "\(result)")
    }
  }

  @Test(arguments: [("/nonexistent", 127), ("/etc/passwd", 126), ("/bin/false", 1)])
  func `the status says whether the program was started`(path: String, status: Int32) throws {
    try withSecret {
      let result = try Program.tool(run + ["--file", "me", "--", path])
      #expect(result.status == status)
    }
  }

  @Test func `a program that a signal ends leaves no files`() throws {
    try withSecret {
      let script = """
        "$0" "$@" -- sh -c 'echo "$CREDENTIALS_DIRECTORY"; kill -TERM $$'; echo status $?
        """
      let result = try Program.run(
        "sh", ["-c", script, Program.toolPath] + run + ["--file", "me"])
      let lines = result.output.split(separator: "\n").map(String.init)
      #expect(lines.last == "status 143", "\(result)")
      let directory = try #require(lines.first)
      #expect(!FileManager.default.fileExists(atPath: directory))
    }
  }

  /// GLib ignores the signal for a broken pipe, and a parent may ignore the end of its children.
  @Test func `the program doesn't inherit what this one ignores`() throws {
    try withSecret {
      let result = try Program.tool(
        run + ["--file", "me", "--", "sh", "-c", "grep SigIgn /proc/$$/status; yes | head -n 1"])
      #expect(result.output.contains("y\n") && result.errors.isEmpty, "\(result)")
      let ignoring = """
        import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execvp(sys.argv[1], sys.argv[1:])
        """
      let failing = try Program.run(
        "python3", ["-c", ignoring, Program.toolPath] + run + ["--file", "me", "--", "false"])
      #expect(failing.status == 1, "\(failing)")
    }
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGUSR1])
  func `signals reach the program`(number: Int32) throws {
    try withSecret {
      let script = """
        import os, signal, sys
        number = int(sys.argv[1])
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
        print(os.environ["CREDENTIALS_DIRECTORY"], flush=True)
        sys.exit(3 if signal.sigtimedwait([number], 60) else 4)
        """
      let program = try Program(
        "python3",
        ["-c", Self.free, Program.toolPath] + run + ["--file", "me", "--", "python3", "-c", script]
          + ["\(number)"])
      try program.waitFor("\n")
      program.send(number)
      #expect(try program.finish().status == 3)
    }
  }

  /// The keyring may take minutes, because a user is to unlock it.
  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal before the program is started ends the tool`(number: Int32) throws {
    let directory = TemporaryDirectory()
    // The bus accepts the connection and never answers.
    let script = """
      import os, signal, socket, subprocess, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      bus = socket.socket(socket.AF_UNIX)
      bus.bind(sys.argv[1])
      bus.listen()
      os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + sys.argv[1]
      tool = subprocess.Popen(sys.argv[3:])
      connection, _ = bus.accept()
      connection.recv(1)
      tool.send_signal(int(sys.argv[2]))
      print("ended", -tool.wait())
      """
    let result = try Program.run(
      "python3",
      ["-c", script, directory.path("bus"), "\(number)", Program.toolPath] + run
        + ["--file", "me", "--", "echo", "started"])
    #expect(result.output == "ended \(number)\n", "\(result)")
  }

  @Test func `a generated password isn't printed, and replaces nothing unasked`() throws {
    let generated = try Program.tool(["generate"] + item)
    #expect(generated.status == 0 && generated.output.isEmpty)
    let password = try Program.tool(["get"] + item).output
    #expect(password.count == 32 && password.allSatisfy { $0.isLetter || $0.isNumber })
    #expect(try Program.tool(["generate"] + item).status == 4)
    #expect(try Program.tool(["generate", "--replace", "--length", "8"] + item).status == 0)
    #expect(try Program.tool(["get"] + item).output.count == 8)
    #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
  }

  @Test func `an empty secret is stored only on request`() throws {
    let refused = try Program.tool(["set"] + item)
    #expect(refused.status == 1 && refused.errors.contains("--empty"))
    #expect(try Program.tool(["get"] + item).status == 3)
    #expect(try Program.tool(["set", "--empty"] + item).status == 0)
    #expect(try Program.tool(["get"] + item).status == 0)
    #expect(try Program.tool(["remove"] + item).output == "removed 1\n")
  }
}
