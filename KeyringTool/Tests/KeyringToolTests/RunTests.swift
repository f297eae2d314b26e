// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the command that runs another program with secrets.
@Suite(.inPrivateSession, .needs("python3"))
struct RunTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private var item: [String] { ["--service", service, "--account", "me"] }
  private var run: [String] { ["run", "--service", service] }

  init() throws {
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
  }

  @Test func `the program gets files, variables, and its own arguments`() throws {
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

  @Test func `the rest of the environment stays as it is`() throws {
    func variables(_ name: String, _ arguments: [String]) throws -> Set<String> {
      let output = try Program.run(name, arguments).output
      return Set(output.split(separator: "\0").map(String.init))
    }
    let before = try variables("env", ["-0"])
    let tool = run + ["--env", "TOKEN=me", "--", "env", "-0"]
    let inside = try variables(Program.toolPath, tool)
    #expect(inside.symmetricDifference(before) == ["TOKEN=s3cret"])
  }

  @Test func `the program doesn't get the password of etcd's user`() throws {
    let variables = ["ETCDCTL_USER=root:hidden", "ETCDCTL_PASSWORD=hidden", Program.toolPath]
    // The process that waits has forgotten it, too.
    let script = "env; cat /proc/$PPID/environ"
    let result = try Program.run(
      "env", variables + run + ["--file", "me", "--", "sh", "-c", script])
    #expect(result.output.contains("ETCDCTL_USER=root\n"), "\(result)")
    #expect(!result.output.contains("hidden"), "\(result)")
    let named = try Program.run(
      "env", variables + run + ["--env", "ETCDCTL_PASSWORD=me", "--", "env"])
    #expect(named.output.contains("ETCDCTL_PASSWORD=s3cret\n"), "\(named)")
    #expect(!named.output.contains("hidden"), "\(named)")
  }

  @Test func `no other process has the secret while the program runs`() throws {
    // A text that is nowhere else, such as in the arguments
    let secret = UUID().uuidString
    #expect(try Program.tool(["set"] + item, input: secret).status == 0)
    let script = """
      import os
      directory = os.environ["CREDENTIALS_DIRECTORY"]
      wanted = open(directory + "/me", "rb").read()
      process = "/proc/%d/" % os.getppid()
      found, readable = 0, 0
      try:
          memory = open(process + "mem", "rb", 0)
          for line in open(process + "maps"):
              first, last = (int(end, 16) for end in line.split()[0].split("-"))
              if "r" not in line.split()[1] or "[v" in line: continue
              try:
                  memory.seek(first)
                  found += memory.read(last - first).count(wanted)
                  readable += 1
              except OSError: pass
      # Only root can read the memory.
      except PermissionError: readable = 1
      print(open(process + "comm").read().strip(), len(wanted), found, readable > 0)
      """
    for more in [[], ["--env", "TOKEN=me"]] {
      let result = try Program.tool(
        run + ["--file", "me"] + more + ["--", "python3", "-c", script])
      #expect(result.output == "keyring-tool \(secret.utf8.count) 0 True\n", "\(result)")
    }
    // Without files to remove, no process waits.
    let number = "echo $$; exec \"$0\" \"$@\""
    let result = try Program.run(
      "sh",
      ["-c", number, Program.toolPath] + run + ["--env", "TOKEN=me"]
        + ["--", "sh", "-c", "echo $$"])
    let numbers = result.output.split(separator: "\n")
    #expect(numbers.count == 2 && numbers.first == numbers.last, "\(result)")
  }

  @Test(arguments: ["--env", "--file"])
  func `the program has the files and the limits that it has without the tool`(option: String)
    throws
  {
    // Tests that run at the same time may hand descriptors to the shell, which are the same in both cases.
    let script = """
      ulimit -Sc 8; exec <&-
      show="import os; print(os.listdir('/proc/self/fd')); os.system('ulimit -c')"
      python3 -c "$show"; exec "$0" "$@" -- python3 -c "$show"
      """
    let result = try Program.run("sh", ["-c", script, Program.toolPath] + run + [option, "me"])
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 4 && lines.prefix(2) == lines.suffix(2), "\(result)")
    #expect(lines.last == "8", "\(result)")
  }

  @Test func `the files are in no directory that others can change`() throws {
    let script = """
      mkdir -m 777 "$2"; XDG_RUNTIME_DIR=$2 "$0" run --service "$1" --file me -- \
        sh -c 'echo "$CREDENTIALS_DIRECTORY"'; rmdir "$2"
      """
    let directory = "/dev/shm/\(UUID().uuidString)"
    let result = try Program.run("sh", ["-c", script, Program.toolPath, service, directory])
    #expect(result.output.hasPrefix("/dev/shm/keyring-tool."), "\(result)")
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
  }

  @Test(arguments: [
    ["run", "--", "true"], ["run", "--netrc", "x"], ["run", "--netrc", "=", "--", "true"],
    ["run", "x", "--service", "x", "--", "true"], ["run", "x"], ["run", "x", "true"],
    ["run", "--netrc", "x", "--netrc", "http://x=y", "--", "true"],
    ["run", "--netrc", "x=y", "--netrc", "http://x=y", "--", "true"],
    ["run", "--file", "x", "--", "true"],
    ["run", "--service", "x", "--file", "netrc", "--netrc", "x", "--", "true"],
    ["run", "--service", "x", "--env", "NETRC", "--netrc", "x", "--", "true"],
    ["run", "--service", "x", "--env", "CREDENTIALS_DIRECTORY", "--netrc", "x", "--", "true"],
  ])
  func `unclear runs are refused`(arguments: [String]) throws {
    let result = try Program.tool(arguments)
    #expect(result.status == 64 && result.errors.contains("Usage:"), "\(result)")
  }

  @Test func `a program without its secret isn't started`() throws {
    let result = try Program.tool(
      run + ["--file", "token=me", "--file", "other", "--", "echo", "started"])
    #expect(result.status == 3 && result.output.isEmpty)
    #expect(result.errors.contains("username: other"), "\(result)")
  }

  @Test(arguments: [("/nonexistent", 127), ("/etc/passwd", 126), ("/bin/false", 1)])
  func `the status says whether the program was started`(path: String, status: Int32) throws {
    let result = try Program.tool(run + ["--file", "me", "--", path])
    #expect(result.status == status)
  }

  @Test func `a program that a signal ends leaves no files`() throws {
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

  /// GLib ignores the signal for a broken pipe, and a parent may ignore the end of its children.
  @Test func `the program doesn't inherit what this one ignores`() throws {
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

  @Test(arguments: [SIGTERM, SIGINT, SIGUSR1])
  func `signals reach the program`(number: Int32) throws {
    let script = """
      import os, signal, sys
      number = int(sys.argv[1])
      signal.pthread_sigmask(signal.SIG_BLOCK, [number])
      print(os.environ["CREDENTIALS_DIRECTORY"], flush=True)
      sys.exit(3 if signal.sigtimedwait([number], 60) else 4)
      """
    let program = try Program(
      "python3",
      ["-c", Program.free, Program.toolPath] + run + ["--file", "me", "--", "python3", "-c"]
        + [script, "\(number)"])
    try program.waitFor("\n")
    program.send(number)
    #expect(try program.finish().status == 3)
  }

  /// The keyring may take minutes, because a user is to unlock it.
  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal before the program is started ends the tool`(number: Int32) throws {
    let directory = TemporaryDirectory()
    let program = try Program.onSilentBus(
      run + ["--file", "me", "--", "echo", "started"], in: directory)
    try program.waitFor("waiting for the keyring")
    program.send(number)
    let result = try program.finish()
    #expect(result.status == number && !result.output.contains("started"), "\(result)")
  }
}
