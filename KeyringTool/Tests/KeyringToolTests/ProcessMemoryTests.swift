// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import Testing

/// Tests of what other programs of the user see of the tool.
@Suite(.needs("python3"))
struct ProcessMemoryTests {
  private let directory = TemporaryDirectory()
  private var set: [String] {
    ["set", "a", "b", "--storage", "file:/nonexistent/x", "--key-file", "/nonexistent/y"]
  }

  @Test func `no program of the user can read the memory, and there are no core dumps`() throws {
    // Root can read everything. A pipe takes so much only after the tool has begun to read the secret.
    let script = """
      import os, subprocess, sys
      # Another user may have no access to its directory.
      file = os.open(sys.argv[1], os.O_RDONLY)
      if os.getuid() == 0:
          os.setgroups([])
          os.setgid(2)
          os.setuid(2)
      arguments = ["/proc/self/fd/%d" % file] + sys.argv[2:]
      tool = subprocess.Popen(arguments, stdin=subprocess.PIPE, pass_fds=[file])
      tool.stdin.write(bytes(1 << 20))
      directory = "/proc/%d/" % tool.pid
      limits = open(directory + "limits").read().split("\\n")
      print("readable" if os.stat(directory + "mem").st_uid == os.getuid() else "hidden")
      print([line.split()[4] for line in limits if line.startswith("Max core file size")])
      tool.kill()
      """
    let result = try Program.run("python3", ["-c", script, Program.toolPath] + set)
    #expect(result.output == "hidden\n['0']\n", "\(result)")
  }

  /// Swift's runtime would open the memory to the program that describes a crash.
  @Test(arguments: [SIGQUIT, SIGSEGV])
  func `no program of the user gets the memory from a crash`(signal: Int32) throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Tests/Fixtures/take-crash-memory.py").path
    let result = try Program.run("python3", [script, "\(signal)", Program.toolPath] + set)
    #expect(result.output == "\(-signal)\n", "\(result)")
  }

  /// Looks for a secret that was typed or piped in, which is only where the kernel hides it.
  @Test(
    .needs("script"), .enabled(if: geteuid() == 0 && Secret.hideNewSecrets(), "needs root"),
    arguments: [
      ("cat", "set a b", "Again: "),
      (
        #"printf "url=https://ada:SECRET@h\npassword=s3cret SECRET\nstate=SECRET\n""#,
        "git-credential store", "New passphrase"
      ),
    ])
  func `root can't read a secret`(input: String, command: String, question: String) throws {
    let secret = UUID().uuidString
    let storage = "--storage file:\(directory.path("file"))"
    let input = input.replacingOccurrences(of: "SECRET", with: secret)
    let tool = "echo process $$; exec \(Program.toolPath) \(command) \(storage)"
    let terminal = try Program.inTerminal(
      command: input == "cat" ? tool : "\(input) | sh -c '\(tool)'")
    try terminal.waitFor("process ")
    let process = try #require(Int32(try terminal.waitFor("\r\n")))
    if input == "cat" { try terminal.answer("Secret: ", with: secret) }
    try terminal.waitFor(question)
    let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    let mappings = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
    var (count, hits) = (0, 0)
    for line in mappings.split(separator: "\n") where line.contains(" rw") {
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      var bytes = Data(count: ends[1] - ends[0])
      let read = bytes.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, ends[0]) }
      count += max(read, 0)
      if read > 0, bytes.prefix(read).range(of: Data(secret.utf8)) != nil { hits += 1 }
    }
    #expect(count > 1 << 20 && hits == 0, "\(hits) mappings with the secret")
  }
}
