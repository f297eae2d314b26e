// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program as a helper of git and docker, on a real keyring.
@Suite(.inPrivateSession)
struct CredentialHelperTests {
  private let directory = TemporaryDirectory()
  private let host = "\(UUID().uuidString.lowercased()).example.org"
  private var registry: String { "https://\(host)/v1/" }
  private var credential: String {
    #"{"Secret":"pa55","ServerURL":"\#(registry)","Username":"ada"}"#
  }

  private func run(_ path: String, _ arguments: [String], _ input: String) throws -> Program.Result
  {
    try Program.run(path, arguments, input: Data(input.utf8))
  }

  @Test func `docker's operations work under docker's name for the program`() throws {
    let helper = directory.path("docker-credential-keyring")
    try FileManager.default.createSymbolicLink(
      atPath: helper, withDestinationPath: Program.toolPath)
    #expect(try run(helper, ["store"], credential).status == 0)
    #expect(try run(helper, ["get"], registry).output == credential + "\n")
    let list = try Program.tool(["docker-credential", "list"]).output
    #expect(list.contains("\"\(registry)\":\"ada\""))
    #expect(try run(helper, ["erase"], registry).output.isEmpty)
    let missing = try run(helper, ["get"], registry)
    #expect(missing.status == 1 && missing.output == "credentials not found in native keychain\n")
  }

  @Test func `docker finds every error on standard output`() throws {
    let missing = ["--collection", host]
    let error = try Program.tool(["docker-credential", "store"] + missing, input: credential)
    #expect(error.status == 1 && error.output.contains("collection") && error.errors.isEmpty)
    // A directory can't be read as a file.
    let get = ["-c", "exec \"$0\" docker-credential get </", Program.toolPath]
    let failure = try Program.run("sh", get)
    #expect(failure.status == 1 && failure.output.contains("input") && failure.errors.isEmpty)
  }

  @Test(arguments: [
    (["git-credential", "get"], 1 << 20), (["docker-credential", "get"], 1 << 20),
    (["set", "a", "b", "--binary"], (4 << 20) + 5),
  ])
  func `input without an end is refused`(command: [String], limit: Int) throws {
    let input = Data(repeating: UInt8(ascii: "a"), count: limit + 1)
    let result = try Program.run(Program.toolPath, command + directory.storage, input: input)
    #expect(result.status == 1, "\(result.status)")
    let text = result.output + result.errors
    #expect(text.contains("Standard input has more than \(limit) bytes."), "\(text.prefix(500))")
    #expect(!FileManager.default.fileExists(atPath: directory.path("file")))
  }

  /// Git may keep its end of the pipe open.
  @Test func `nothing is read after the empty line`() throws {
    let helper = try Program(Program.toolPath, ["git-credential", "get"] + directory.storage)
    try helper.type("protocol=https\nhost=\(host)\n")
    try helper.type("\n")
    #expect(try helper.finish().output.isEmpty)
  }

  @Test(.needs("docker-credential-secretservice"))
  func `the helper fails as docker's own helper does`() throws {
    for (operation, input) in [("get", registry), ("get", ""), ("store", #"{"ServerURL":"x"}"#)] {
      let result = try Program.tool(["docker-credential", operation], input: input)
      let other = try run("docker-credential-secretservice", [operation], input)
      #expect(result.status == 1 && other.status == 1)
      #expect(operation == "store" || result.output == other.output)
    }
  }

  @Test(
    .needs("docker-credential-secretservice"), .needs("secret-tool"),
    arguments: [nil, "ada", "tom"])
  func `several users that docker's own helper has stored are one credential`(storing: String?)
    throws
  {
    let theirs = "docker-credential-secretservice"
    for user in ["ada", "bob", "eve"] {
      let other = credential.replacingOccurrences(of: "ada", with: user)
      #expect(try run(theirs, ["store"], other).status == 0)
    }
    let docker = ["docker-credential"]
    let found = try Program.tool(docker + ["get"], input: registry)
    #expect(found.status == 0 && found.output.contains(#""Secret":"pa55""#), "\(found)")
    if let storing {
      let new = credential.replacingOccurrences(of: "pa55", with: "new")
        .replacingOccurrences(of: "ada", with: storing)
      #expect(try Program.tool(docker + ["store"], input: new).status == 0)
      #expect(try Program.tool(docker + ["get"], input: registry).output == new + "\n")
      #expect(try Program.tool(docker + ["list"]).output.contains("\"\(registry)\":\"\(storing)\""))
      #expect(try run(theirs, ["get"], registry).output.contains(#""Secret":"new""#))
      let search = ["search", "--all", "docker_cli", "1", "server", registry]
      let items = try Program.run("secret-tool", search).output
      #expect(items.components(separatedBy: "secret = ").count == 2, "\(items)")
      // The next user takes the place of this one.
      let next = new.replacingOccurrences(of: storing, with: "uma")
      #expect(try Program.tool(docker + ["store"], input: next).status == 0)
      #expect(try Program.tool(docker + ["get"], input: registry).output == next + "\n")
      let left = try Program.run("secret-tool", search).output
      #expect(left.components(separatedBy: "secret = ").count == 2, "\(left)")
    }
    #expect(try Program.tool(docker + ["erase"], input: registry).status == 0)
    #expect(try Program.tool(docker + ["get"], input: registry).status == 1)
    #expect(try run(theirs, ["get"], registry).status == 1)
  }
}
