// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program that holds a provider to the contract.
@Suite(.inPrivateSession, .needs("secret-tool"), .needs("python3"), .serialized)
struct ContractTests {
  private static let program =
    URL(fileURLWithPath: Program.toolPath).deletingLastPathComponent()
    .appendingPathComponent("keyring-contract").path

  private struct Report: Decodable, Equatable {
    let rule: Int
    let title, result: String
    let messages: [String]
  }

  /// Returns the path of a file of the repository.
  private func path(_ file: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../\(file)").path
  }

  /// Verifies rules with a provider.
  private func contract(
    _ rules: String..., with daemon: [String]
  ) throws -> (status: Int32, reports: [Report]) {
    let options = ["--json"] + rules.flatMap { ["--rule", $0] }
    let result = try inSession("stopped", [Self.program] + options + ["--"] + daemon)
    return (result.status, try JSONDecoder().decode([Report].self, from: Data(result.output.utf8)))
  }

  /// Runs a command in another session, with gnome-keyring or with nothing yet.
  private func inSession(_ start: String, _ command: [String]) throws -> Program.Result {
    let session = [path("Scripts/private-session"), "--start", start]
    return try Program.run("python3", ["-c", Program.free] + session + command)
  }

  private let gnomeKeyring = [
    "gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock",
  ]

  // .ci/run contract has all rules, with three providers.
  @Test func `gnome-keyring keeps every rule that needs no user`() throws {
    let (status, reports) = try contract(
      "lockedIsNotMissing", "collectionsAreApart", "changesAreReportedOnce", "removalsAreDurable",
      with: gnomeKeyring)
    #expect(status == 0)
    #expect(reports.map(\.result) == ["kept", "left out", "kept", "kept", "kept"])
    #expect(reports.map(\.rule) == [1, 2, 11, 13, 13])
    #expect(reports[1].messages == ["The provider creates a collection only if a user agrees."])
  }

  @Test func `a provider that forgets is named with what it lost`() throws {
    let provider = [
      "/usr/bin/python3", "-I", path("Tests/Fixtures/fake-service.py"), "--mode", "encrypted",
      "org.freedesktop.secrets",
    ]
    let (status, reports) = try contract("bytesComeBack", "newItemsAreDurable", with: provider)
    #expect(status == 1)
    #expect(
      reports.map(\.title) == [
        "bytesComeBack", "newItemsAreDurable, orderly", "newItemsAreDurable, kill",
        "newItemsAreDurable, kill during writes",
      ])
    #expect(reports.map(\.result) == ["kept", "broken", "broken", "broken"])
    #expect(reports[0].messages.isEmpty)
    #expect(
      reports[2].messages.contains { $0.hasPrefix("after a restart these items are lost: ") })
    #expect(reports[3].messages.contains { $0.hasSuffix("there are 0 items") }, "\(reports[3])")
  }

  @Test func `a provider that is left in the background is killed and started again`() throws {
    let shell = ["sh", "-c", "cat >\"$HOME/password\"; setsid \"$@\" <\"$HOME/password\" &", "sh"]
    let (status, reports) = try contract("newItemsAreDurable", with: shell + gnomeKeyring)
    #expect(status == 0 && reports.map(\.result) == ["kept", "kept", "kept"])
  }

  @Test func `a provider that can't be started again is the last line`() throws {
    let once = ["sh", "-c", "mkdir \"$HOME/started\" && exec \"$@\"", "sh"] + gnomeKeyring
    let (status, reports) = try contract(
      "newItemsAreDurable", "changesAreDurable", "removalsAreDurable", with: once)
    #expect(status == 1 && reports.map(\.result) == ["broken", "broken", "broken", "broken"])
    #expect(reports.last?.title == "changesAreDurable")
    #expect(reports.last?.messages.first?.contains("hasn't started a provider") == true)
  }

  @Test func `a table has the rules that not every provider keeps`() throws {
    let directory = TemporaryDirectory()
    let files = ["a.json", "b.json"].map(directory.path)
    for (file, result) in zip(files, ["kept", "left out"]) {
      let reports = [("one", "kept"), ("two", result)].map {
        #"{"rule": 1, "title": "\#($0)", "result": "\#($1)", "messages": []}"#
      }
      try Data("[\(reports.joined(separator: ","))]".utf8).write(to: URL(fileURLWithPath: file))
    }
    let result = try Program.run(Self.program, ["--table"] + files)
    #expect(result.output == "| rule | a | b |\n|---|---|---|\n| 1: two | kept | left out |\n")
  }

  @Test func `a running keyring lives on, and keeps nothing`() throws {
    // Its arguments are keyring-tool and the program.
    let script = """
      state() {
        "$1" list && gdbus call --session --dest org.freedesktop.DBus --object-path / \
          --method org.freedesktop.DBus.GetConnectionUnixProcessID org.freedesktop.secrets
      }
      echo d | secret-tool store --label a b c && before=$(state "$1") || exit 9
      "$2" --collection Login && [ "$(state "$1")" = "$before" ]
      """
    let result = try inSession(
      "running", ["sh", "-c", script, "sh", Program.toolPath, Self.program])
    #expect(result.status == 0, "\(result)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count > 30 && lines.allSatisfy { $0.hasPrefix("kept      rule ") })
    #expect(!result.output.contains("rule 13") && !result.output.contains("lock"))
  }

  @Test func `nothing is started in a session of the user`() throws {
    let misuse = try Program.run(Self.program, ["--", "false"])
    #expect(misuse.status == 64 && misuse.errors.contains("Scripts/contract"))
    for arguments in [[], ["--collection", "Login", "--", "false"]] {
      #expect(try Program.run(Self.program, arguments).status == 64)
    }
    #expect(try Program.run(Self.program, ["--collection", "absent"]).status == 3)
    for (program, fault) in [("false", "hasn't started a provider"), ("/", "can't be started")] {
      let result = try inSession("stopped", [Self.program, "--", program])
      #expect(result.status == 5 && result.errors.contains(fault))
    }
  }
}
