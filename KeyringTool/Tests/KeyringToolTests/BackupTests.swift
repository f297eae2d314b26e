// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of copies between a keyring and an encrypted file.
@Suite(.inPrivateSession, .needs("secret-tool"), .needs("script"), .needs("python3"))
struct BackupTests {
  private let service = "keyring-tool-\(UUID().uuidString)"
  private let directory = TemporaryDirectory()
  private var file: String { "file:\(directory.path("backup"))" }
  private var toFile: [String] { ["--to", file, "--to-key-file", directory.path("key")] }
  private var fromFile: [String] { [file, "--from-key-file", directory.path("key")] }

  /// The items of the service as JSON, without the times.
  ///
  /// A copy of another program's item is one of this package.
  private func items() throws -> [String] {
    let json = try Program.tool(["list", "--json", "--service", service]).output
    let objects = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    return try (objects ?? []).map { object in
      let item = object.filter { !["created", "isForeign", "modified"].contains($0.key) }
      // The text of a dictionary isn't always in the same order.
      let data = try JSONSerialization.data(withJSONObject: item, options: .sortedKeys)
      return String(decoding: data, as: UTF8.self)
    }
    .sorted()
  }

  @Test func `a restored backup has the same items`() throws {
    let service = ["--service", service]
    let parts: [(arguments: [String], secret: String)] = [
      (["--account", "me", "--label", "A label"], "s3cret hällo"),
      (["--account", "empty", "--empty"], ""), (["--account", "bytes", "--value"], "\0a"),
      (["--credential", "mine", "--login", "ada"], "pa55"),
    ]
    for part in parts {
      let set = ["set", "--binary"] + service + part.arguments
      #expect(try Program.tool(set, input: part.secret).status == 0)
    }
    // An item of another program.
    try Program.storeTheirs(["service", self.service, "username", "x", "note", "y"])
    let before = try items()
    #expect(before.count == 5)

    let export = try Program.tool(["export", "--all-programs"] + service + toFile)
    #expect(export.status == 0 && export.output == "copied 5\n", "\(export)")
    #expect(try items() == before)
    let remove = ["remove", "--all", "--all-programs"] + service
    #expect(try Program.tool(remove).output == "removed 5\n")
    let restored = try Program.tool(["import"] + fromFile)
    #expect(restored.status == 0 && restored.output == "copied 5\n", "\(restored)")

    #expect(try items() == before)
    for part in parts {
      let named = Array(part.arguments.prefix(2)) + part.arguments.filter { $0 == "--value" }
      #expect(try Program.tool(["get"] + service + named).output == part.secret)
    }
    let theirs = ["get", "--account", "x", "--attribute", "note=y"]
    #expect(try Program.tool(theirs + service).output == "theirs")
    let lookup = ["lookup", "service", self.service, "username", "x", "note", "y"]
    #expect(try Program.run("secret-tool", lookup).output == "theirs")
  }

  /// Python's keyring marks its items, and another program may have one of the same account.
  @Test func `an item that isn't unique is named, and the others are copied`() throws {
    for mark in [[], ["application", "Python keyring library"]] {
      try Program.storeTheirs(["service", service, "username", "two"] + mark)
    }
    let service = ["--service", service]
    #expect(try Program.tool(["set", "--account", "one"] + service, input: "s3cret").status == 0)
    let export = try Program.tool(["export"] + service + toFile)
    #expect(export.status == 1 && export.output == "copied 1\n", "\(export)")
    let lines = export.errors.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].contains("username: two"), "\(export)")
  }

  @Test func `items go to another collection, and stay`() throws {
    let item = ["--service", service, "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
    let export = try Program.tool(["export", "--to", "keyring:session"] + item)
    #expect(export.output == "copied 1\n", "\(export)")
    for collection in [[], ["--collection", "session"], ["--storage", "keyring:session"]] {
      #expect(try Program.tool(["get"] + item + collection).output == "s3cret")
    }
    for collection in [[], ["--collection", "session"]] {
      #expect(try Program.tool(["remove"] + item + collection).output == "removed 1\n")
    }
  }

  @Test func `a passphrase for the backup is typed twice, and once to read it`() throws {
    let item = ["--service", service, "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
    let export = try Program.inTerminal(["export", "--to", file] + item)
    try export.answer("New passphrase of the ", "Repeat the passphrase: ", with: "correct horse")
    try export.waitFor("copied 1")
    #expect(try export.finish().status == 0)

    let list = try Program.inTerminal(["list", "--storage", file])
    try list.answer("Passphrase of the ", with: "correct horse")
    try list.waitFor("username=me")
    let wrong = try Program.inTerminal(["import", file])
    try wrong.answer("Passphrase of the ", with: "wrong")
    try wrong.waitFor("another passphrase")
    #expect(try wrong.finish().status != 0)
  }

  @Test func `a backup that doesn't exist is no empty backup`() throws {
    let result = try Program.tool(["import"] + fromFile)
    #expect(result.status == 3 && result.errors.contains("There is no file"), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: directory.path("key")))
  }

  @Test(arguments: [
    ["export", "--to", "keyring"], ["export"], ["import"], ["export", "--to", "etcd:x"],
    ["import", "keyring:x", "--collection", "x"],
    ["export", "--to", "file:x", "--no-prompt"], ["import", "file:x", "--key-file", "y"],
  ])
  func `unclear copies are refused`(arguments: [String]) throws {
    let result = try Program.tool(arguments)
    #expect(result.status == 64 && result.errors.contains("Usage:"), "\(result)")
  }
}
