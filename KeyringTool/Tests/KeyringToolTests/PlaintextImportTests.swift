// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringToolCommands

/// Imports of files into a storage in memory.
@Suite struct PlaintextImportTests {
  private let storage = InMemoryStorage()
  private let directory = TemporaryDirectory()

  private func file(_ content: String, _ name: String = "file") throws -> String {
    let path = directory.path(name)
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    try #require(chmod(path, 0o600) == 0)
    return path
  }

  private func content(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  private func plan(
    _ content: String, _ format: PlaintextFileFormat, only: [String] = []
  ) throws -> PlaintextImport {
    try PlaintextImport(
      ofFileAt: file(content), format: format, service: format.needsService ? "s" : nil, only: only)
  }

  /// Copies the values and then moves them, as the command does.
  private func moveAll(
    of plan: PlaintextImport, to storage: (any SecureStorage)? = nil, replacing: Bool = false
  ) throws -> Int {
    let storage = storage ?? self.storage
    _ = try plan.copy(to: storage, replacing: replacing)
    return try plan.move(to: storage)
  }

  private func password(_ account: String) throws -> String? {
    try storage.password(for: .password(service: "s", account: account))
  }

  @Test(arguments: [
    (".env", "", PlaintextFileFormat.environment), (".env.local", "", .environment),
    ("app.env", "{}", .environment), ("x", "# c\n\nexport A=1\n", .environment),
    ("_netrc", "", .netrc), ("x", "machine h\n", .netrc), ("x", "default login a", .netrc),
    (".git-credentials", "", .gitCredentials), ("x", "https://a:b@h/\n", .gitCredentials),
    ("x.json", #"{"a":"b"}"#, .json), ("x", #"  {"a":"b"}"#, .json),
    ("config.json", #"{"auths":{"h":{"auth":"YTpi"}}}"#, .docker),
    ("x", #"{"auths":{"h":{"auth":"YTpi"}}}"#, .docker), ("x.json", #"{"auths":1}"#, .json),
    (".docker/config.json", #"{"auths":{}}"#, .docker),
  ])
  func `a format is known by the name of the file or by its beginning`(
    name: String, content: String, format: PlaintextFileFormat
  ) throws {
    #expect(try PlaintextFileFormat(ofFileAt: file(content, name)) == format)
  }

  @Test func `the format of a file that isn't there isn't guessed`() {
    let failure = #expect(throws: ToolFailure.self) {
      try PlaintextFileFormat(ofFileAt: directory.path("a\u{1B}b"))
    }
    #expect(failure?.status == .notFound && failure?.message.hasSuffix("a\\u{1B}b.") == true)
  }

  @Test(arguments: ["", "text", "https://h/\n", "\0\u{1}"])
  func `a format that isn't clear isn't guessed`(content: String) throws {
    #expect(try PlaintextFileFormat(ofFileAt: file(content)) == nil)
  }

  @Test func `variables become passwords, and stay in the file`() throws {
    let text = "A=1\nB=\"two\nlines\"\nC=\n"
    let plan = try plan(text, .environment)
    #expect(plan.lines.first == "A  password (service: s, username: A)")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
    #expect(try plan.copy(to: storage, replacing: false) == 3)
    #expect(try plan.copy(to: storage, replacing: false) == 3)
    #expect(try ["A", "B", "C"].map(password) == ["1", "two\nlines", ""])
    #expect(try content(directory.path("file")) == text)
    #expect(try plan.move(to: storage) == 3)
    #expect(try content(directory.path("file")).isEmpty)
  }

  @Test func `only named values are imported and removed`() throws {
    let plan = try plan("A=1\nB=2\n", .environment, only: ["B"])
    #expect(try moveAll(of: plan) == 1)
    #expect(try password("A") == nil && password("B") == "2")
    #expect(try content(directory.path("file")) == "A=1\n")
    let error = #expect(throws: ToolFailure.self) {
      try self.plan("A=1\n", .environment, only: ["C"])
    }
    #expect(error?.status == .notFound)
  }

  @Test func `another value is replaced only on request`() throws {
    try storage.setPassword("theirs", for: .password(service: "s", account: "B"))
    let plan = try plan("A=1\nB=2\n", .environment)
    let error = #expect(throws: SecureStorageError.self) {
      try plan.copy(to: storage, replacing: false)
    }
    #expect(error?.code == .itemAlreadyExists)
    #expect(error?.recoverySuggestion?.contains("--replace. Nothing was written") == true)
    #expect(try password("A") == nil && password("B") == "theirs")
    #expect(try moveAll(of: plan, replacing: true) == 2)
    #expect(try password("B") == "2")
  }

  @Test func `a failed write says what was done, and goes on the next time`() throws {
    let plan = try plan("A=1\nB=2\nC=3\n", .environment)
    let faulty = FaultyStorage(storage)
    faulty.fail(.save, with: .connectionLost, onCall: 2)
    let error = #expect(throws: SecureStorageError.self) {
      try moveAll(of: plan, to: faulty)
    }
    #expect(error?.message.hasPrefix("The import stopped at B (line 2): ") == true)
    #expect(error?.recoverySuggestion?.contains("1 of 3 values were written") == true)
    #expect(try content(directory.path("file")) == "A=1\nB=2\nC=3\n")
    #expect(try moveAll(of: plan, to: faulty) == 3)
    #expect(try ["A", "B", "C"].map(password) == ["1", "2", "3"])
  }

  @Test func `the first value that is lost ends the import, and the file stays`() throws {
    let plan = try plan("A=1\nB=2\nC=3\n", .environment)
    let losing = AlteringStorage(base: storage) { item in
      if item.key.account == "B" { item.secret = Secret("") }
    }
    let error = #expect(throws: SecureStorageError.self) {
      try moveAll(of: plan, to: losing)
    }
    #expect(error?.code == .verificationFailed)
    #expect(error?.message.hasPrefix("The import stopped at B (line 2): ") == true)
    #expect(error?.recoverySuggestion?.contains("1 of 3 values were read back") == true)
    #expect(try content(directory.path("file")) == "A=1\nB=2\nC=3\n")
  }

  @Test func `a value that is lost before the removal keeps the file`() throws {
    let plan = try plan("A=1\nB=2\n", .environment)
    #expect(try plan.copy(to: storage, replacing: false) == 2)
    // The keyring has crashed, and has an older state.
    try storage.remove(.password(service: "s", account: "B"))
    let failure = #expect(throws: ToolFailure.self) { try plan.move(to: storage) }
    #expect(failure?.message == "The keyring has lost B (line 2)." && failure?.status == .damaged)
    #expect(failure?.recoverySuggestion.contains("unchanged") == true)
    #expect(try content(directory.path("file")) == "A=1\nB=2\n")
    // Nothing is written that would have to be waited for.
    #expect(try password("B") == nil)
    #expect(try moveAll(of: plan) == 2)
  }

  @Test func `a value that is the old one again before the removal keeps the file`() throws {
    try storage.setPassword("old", for: .password(service: "s", account: "A"))
    let plan = try plan("A=1\n", .environment)
    #expect(try plan.copy(to: storage, replacing: true) == 1)
    try storage.setPassword("old", for: .password(service: "s", account: "A"))
    #expect(throws: SecureStorageError.self) { try plan.move(to: storage) }
    #expect(try content(directory.path("file")) == "A=1\n" && password("A") == "old")
  }

  @Test func `values for one item are named with their lines`() throws {
    let error = #expect(throws: ToolFailure.self) {
      try plan("{\"a.b\":\"s3cret\",\n\"a\":{\"b\":\"x\"}}", .json)
    }
    #expect(error?.status == .ambiguous && error?.message.contains("Lines 1 and 2") == true)
    #expect(error?.description.contains("s3cret") == false)
  }

  @Test func `JSON becomes passwords, credentials and values`() throws {
    let plan = try plan(
      #"{"a":{"b":"t"},"c":{"login":"l","password":"p"},"n":[1,2]}"#, .json)
    #expect(try moveAll(of: plan) == 3)
    #expect(try password("a.b") == "t")
    let credential = ItemKey.credentials(service: "s", label: "c")
    #expect(try storage.item(for: credential)?.attributes == ["username": "l"])
    #expect(try storage.secret(for: .value(service: "s", account: "n")) == Secret("[1,2]"))
    #expect(try content(directory.path("file")) == #"{"a":{}}"#)
  }

  /// Asks as git does.
  private func git(_ url: String) throws -> String {
    let reply = try CredentialOperation.reply(to: "get", "url=\(url)\n".utf8, in: storage)
    return String(decoding: reply, as: UTF8.self)
  }

  @Test func `git's helper finds what was in its file`() throws {
    let plan = try plan(
      "https://ada:p%40ss@h\nhttps://bob:q@h:8443/x.git\nhttp://eve:r@i\nnone\nhttps://a:s3cret@%zz\n"
        + "https://a:s3cret@\n",
      .gitCredentials)
    #expect(plan.refusals.count == 3 && plan.refusals[0].contains("line 4"))
    for (refusal, line) in zip(plan.refusals.dropFirst(), [5, 6]) {
      #expect(refusal.contains("line \(line) of"))
      #expect(refusal.hasSuffix(" isn't a URL that git's helper finds"))
      #expect(!refusal.contains("s3cret"))
    }
    #expect(try moveAll(of: plan) == 3)
    #expect(try git("https://h") == "username=ada\npassword=p@ss\n")
    #expect(try git("https://h:8443/x.git") == "username=bob\npassword=q\n")
    #expect(try git("http://i") == "username=eve\npassword=r\n")
    #expect(
      try content(directory.path("file")) == "none\nhttps://a:s3cret@%zz\nhttps://a:s3cret@\n")
  }

  @Test func `git and run find what was in a netrc file`() throws {
    let plan = try plan(
      "machine h login ada password p\nmachine i:8443 login bob password q\ndefault password r\n",
      .netrc)
    #expect(plan.refusals.count == 1 && plan.refusals[0].contains("line 3"))
    #expect(try moveAll(of: plan) == 2)
    #expect(try git("https://h") == "username=ada\npassword=p\n")
    #expect(try git("https://i:8443") == "username=bob\npassword=q\n")
    var file = NetrcFile()
    try file.add(#require(NetrcFile.Machine("h")), from: storage)
    #expect(file.content == Secret("machine h login ada password p\n"))
    #expect(try content(directory.path("file")) == "default password r\n")
  }

  @Test func `docker's helper finds what was in its configuration`() throws {
    // The passwords are "p:1", a NUL at the end that docker drops, and a token.
    let plan = try plan(
      #"{"auths":{"h":{"auth":"YTpwOjE="},"i":{"auth":"YjpxAA=="},"https://j/v1/":"#
        + #"{"auth":"PHRva2VuPjo=","identitytoken":"tok"},"k":{}},"credsStore":"keyring"}"#,
      .docker)
    #expect(plan.lines.map { $0.prefix { $0 != " " } } == ["h", "i", "https://j/v1/"])
    #expect(try moveAll(of: plan) == 3)
    for (server, user, secret) in [
      ("h", "a", "p:1"), ("i", "b", "q"), ("https://j/v1/", "<token>", "tok"),
    ] {
      let reply = try DockerCredentials(storage).reply(to: .get, Array(server.utf8))
      #expect(
        String(decoding: reply, as: UTF8.self)
          == "{\"Secret\":\"\(secret)\",\"ServerURL\":\"\(server)\",\"Username\":\"\(user)\"}\n")
    }
    #expect(
      try content(directory.path("file")) == #"{"auths":{"k":{}},"credsStore":"keyring"}"#)
  }

  @Test(arguments: ["!", "YQ==", "Og=="])
  func `a login of docker that can't be decoded is refused`(auth: String) throws {
    let plan = try plan(#"{"auths":{"h":{"auth":"\#(auth)"}}}"#, .docker)
    let error = #expect(throws: SecureStorageError.self) {
      try plan.copy(to: storage, replacing: false)
    }
    #expect(error?.code == .undecodable)
  }

  @Test(arguments: [(0o600, nil), (0o640, "Its group"), (0o644, "Every user")])
  func `a file that others can read is named`(mode: mode_t, who: String?) throws {
    let plan = try plan("A=1\n", .environment)
    try #require(chmod(directory.path("file"), mode) == 0)
    #expect(plan.warning?.hasPrefix(who ?? "-") ?? (who == nil))
  }
}
