// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program on an encrypted file, which needs no keyring.
@Suite final class EncryptedFileTests {
  private let directory = TemporaryDirectory()
  private let item = ["--service", "mail", "--account", "smtp"]

  private var storage: [String] { directory.storage }

  @Test func `the program sets, gets, lists and removes items of a file`() throws {
    #expect(try Program.tool(["set"] + item + storage, input: "s3cret hällo\n").status == 0)
    #expect(try Program.tool(["get"] + item + storage).output == "s3cret hällo")
    #expect(try Program.tool(["generate"] + item + storage).errors.contains("already"))
    let list = try Program.tool(["list"] + storage).output
    #expect(list.contains("username=smtp") && !list.contains("s3cret"))
    let content = try Data(contentsOf: URL(fileURLWithPath: directory.path("file")))
    #expect(content.range(of: Data("smtp".utf8)) == nil)
    #expect(try Program.tool(["remove"] + item + storage).output == "removed 1\n")
    #expect(try Program.tool(["list"] + storage).output.isEmpty)
  }

  @Test func `the program says when changes of a file go unnoticed`() throws {
    #expect(try Program.tool(["set"] + item + storage, input: "s3cret").status == 0)
    let watch = try Program(
      "sh", ["-c", "exec \"$0\" watch \"$@\" 2>&1", Program.toolPath] + storage)
    try watch.waitFor("watching\n")
    let file = URL(fileURLWithPath: directory.path("file"))
    let whole = try Data(contentsOf: file)
    try whole.dropLast().write(to: file, options: .atomic)
    try watch.waitFor("changes go unnoticed.\n")
    try whole.write(to: file, options: .atomic)
    try watch.waitFor("Changes are noticed again.\n")
    #expect(try Program.tool(["remove"] + item + storage).status == 0)
    try watch.waitFor("removed password (service: mail, username: smtp)\n")
  }

  @Test func `the doctor checks the file and the key`() throws {
    let doctor = try Program.tool(["doctor", "--write"] + storage)
    #expect(doctor.status == 0 && doctor.output.contains("writing"), "\(doctor)")
    #expect(doctor.output.hasSuffix("protection  keyFile\n"), "\(doctor)")
  }

  @Test(
    arguments: [
      (["--storage", "file:x", "--collection", "y"], "--collection"),
      (["--storage", "file:x", "--no-prompt"], "--key-file"),
      (["--key-file", "x"], "--key-file"), (["--storage", "file:"], "--storage"),
      (["--storage", "keyring:"], "--storage"), (["--storage", "directory:x"], "--storage"),
    ])
  func `options that name no storage are refused`(options: [String], message: String) throws {
    let result = try Program.tool(["list"] + options)
    #expect(result.status == 64 && result.errors.contains(message), "\(result)")
  }

  @Test func `a file has no collections`() throws {
    for command in [["lock"], ["unlock"], ["collections"], ["move"] + item + ["--to", "x"]] {
      let result = try Program.tool(command + storage)
      #expect(result.status == 64 && result.errors.contains("only for the keyring"), "\(result)")
    }
  }

  @Test func `a tilde is the home directory`() throws {
    let script =
      "HOME=$1 exec \"$0\" set --service s --account a --storage file:~/new --key-file $2"
    let set = ["-c", script, Program.toolPath, directory.path, directory.path("key")]
    #expect(try Program.run("sh", set, input: Data("s3cret".utf8)).status == 0)
    #expect(FileManager.default.fileExists(atPath: directory.path("new")))
  }
}
