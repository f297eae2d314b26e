// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyringStorage
import Testing

@testable import KeyringToolCommands

@Suite struct ProviderVersionTests {
  private func subjects(of process: pid_t) -> [String] {
    var diagnosis = StorageDiagnosis(of: "Storage")
    diagnosis.add("provider", "gnome-keyring-daemon, process \(process), on the bus as :1.0")
    diagnosis.addProviderVersion()
    return diagnosis.findings.map(\.subject)
  }

  /// Only the program's name is that of the keyring.
  @Test(arguments: ["cat", "gnome-keyring-daemon"])
  func `another program has no version`(name: String) throws {
    let directory = TemporaryDirectory()
    let file = directory.path(name)
    // Programs that other tests start at this moment would inherit the file, which couldn't be started then.
    #expect(try Program.run("cp", ["/usr/bin/cat", file]).status == 0)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: file)
    process.standardInput = Pipe()
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    #expect(subjects(of: process.processIdentifier) == ["provider"])
  }

  @Test func `a process that has ended has no version`() {
    #expect(subjects(of: .max) == ["provider"])
  }

  @Test func `a program that hangs is ended`() {
    func output(_ words: String..., within time: Duration = .seconds(30)) -> String? {
      ProviderVersion.output(of: "/bin/\(words[0])", words, until: .now + time)
    }
    #expect(output("echo", "text") == "text\n")
    #expect(output("cat") == "")
    let start = ContinuousClock.now
    #expect(output("sleep", "60", within: .milliseconds(200)) == nil)
    #expect(output("yes", within: .milliseconds(200)) == nil)
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test func `the program that is run has only one end of the pipe`() {
    let script = """
      own=$(readlink /proc/$$/fd/1)
      for file in /proc/$$/fd/*; do [ "$(readlink "$file")" != "$own" ] || echo "${file##*/}"; done
      """
    let output = ProviderVersion.output(
      of: "/bin/sh", ["sh", "-c", script], until: .now + .seconds(30))
    #expect(output == "1\n")
  }
}
