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
    try String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
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
    (".docker/config.json", #"{"auths":{}}"#, .docker), (".dockercfg", "{}", .docker),
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
    let reply = try CredentialOperation.get.reply(to: Secret("url=\(url)\n"), in: storage)
    return try #require(reply.text)
  }

  @Test func `git's helper finds what was in its file`() throws {
    let plan = try plan(
      "https://ada:p%40ss@h\nhttps://bob:q@h:8443/x.git\nhttp://eve:r@i\nnone\nhttps://a:s3cret@%zz\n"
        + "https://a:s3cret@\n",
      .gitCredentials)
    #expect(plan.refusals.count == 2 && plan.refusals[0].contains("line 4"))
    #expect(plan.refusals[1].contains("line 6 of"))
    #expect(plan.refusals[1].hasSuffix(" isn't a URL that git's helper finds"))
    #expect(!plan.refusals[1].contains("s3cret"))
    #expect(try moveAll(of: plan) == 4)
    #expect(try git("https://h") == "username=ada\npassword=p@ss\n")
    #expect(try git("https://h:8443/x.git") == "username=bob\npassword=q\n")
    #expect(try git("http://i") == "username=eve\npassword=r\n")
    #expect(
      try content(directory.path("file")) == "none\nhttps://a:s3cret@\n")
    #expect(try git("https://%zz") == "username=a\npassword=s3cret\n")
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

  /// Files, the passwords of servers that are moved out of them, what is left, and the lines that are named.
  private static let files: [(PlaintextFileFormat, String, [String: String], String?, [Int])] = [
    (.netrc, "machine h login a password p\n", ["h a": "p"], "", []),
    (.netrc, "machine h password p", ["h": "p"], "", []),
    (
      .netrc, "\u{FEFF}machine h login a password p\r\n# c\r\n", ["h a": "p"],
      "\u{FEFF}# c\r\n", []
    ),
    (
      .netrc,
      "# c\nmachine h\n\tlogin a # of ada\n\tpassword p\n\nmachine i user b password q # last\n",
      ["h a": "p", "i b": "q"], "# c\n\n # last\n", []
    ),
    (.netrc, #"machine h login "a b" password "p \"\\ #q""#, ["h a b": #"p "\ #q"#], "", []),
    (
      .netrc, "machine h login a password p# machine i password q\n", ["h a": "p#", "i": "q"],
      " \n",
      []
    ),
    (
      .netrc, "machine h login a password \u{1F511}\"x\n", ["h a": "\u{1F511}\"x"], "", []
    ),
    (.netrc, "machine h login a password \"\"\n", ["h a": ""], "", []),
    (
      .netrc,
      "macdef m\nmachine no password no\n\nmachine h login a password p\nmachine h login b "
        + "password q\n",
      ["h a": "p", "h b": "q"], "macdef m\nmachine no password no\n\n", []
    ),
    (
      .netrc,
      "machine h login a\nmachine i login b account c password q\ndefault login d password r\n",
      [:],
      "machine h login a\nmachine i login b account c password q\ndefault login d password r\n",
      [1, 2, 3]
    ),
    (
      .netrc, "machine h login a password s3cret port 993\nmachine i password q\n", ["i": "q"],
      "machine h login a password s3cret port 993\n", [1]
    ),
    (.netrc, "machine h login t0ken password x-oauth-basic\n", [:], nil, [1]),
    (.netrc, "machine h password s3cret machine h password s3cret", [:], nil, [1, 1]),
    (
      .gitCredentials,
      "https://a:p%40%2F%25@h\n\nhttps://a:q%4@i\nno line of git: s3cret\nhttps://b@h\n",
      ["h a": "p@/%", "i a": "q%4"], "\nno line of git: s3cret\nhttps://b@h\n", [4, 5]
    ),
    // The rest of a password that isn't encoded isn't a part of a name.
    (
      .gitCredentials, "https://ada:pa@s3cret@h\nhttps://a:p@h\n", ["h a": "p"],
      "https://ada:pa@s3cret@h\n", [1]
    ),
    (.gitCredentials, "https://t0ken:x-oauth-basic@h\nhttps://t0ken:@h\n", [:], nil, [1, 2]),
    (.gitCredentials, "https://a:s3cret@h\nhttps://a:s3cret@h\n", [:], nil, [1, 2]),
  ]

  @Test(arguments: files) func `what is clear is moved, and the rest is named`(
    format: PlaintextFileFormat, text: String, passwords: [String: String], rest: String?,
    lines: [Int]
  ) throws {
    let plan = try plan(text, format)
    #expect(try moveAll(of: plan) == passwords.count)
    let items = try storage.items(matching: ItemQuery(details: .secret))
    let moved = items.map { item in
      let name = [item.key.server?.host, item.key.account].compactMap(\.self)
      return (name.joined(separator: " "), item.secret?.text ?? "?")
    }
    #expect(Dictionary(uniqueKeysWithValues: moved) == passwords)
    #expect(try content(directory.path("file")) == rest ?? text)
    #expect(plan.refusals.count == lines.count)
    for (refusal, line) in zip(plan.refusals, lines) {
      #expect(refusal.contains("line \(line) of") && !refusal.contains("s3cret"))
      #expect(!refusal.contains("t0ken"))
    }
  }

  /// An entry that programs read differently, between two that they don't.
  @Test(arguments: [
    #"machine h password s3\cret"#, #"machine h password "s3\ncret""#,
    "machine h password \"s3cret\"x",
    "machine h password \"\"s3cret", "machine h login a s3cret p",
    "machine h login a password #s3cret", "machine \"\" password s3cret",
    "machine h login s3\\cret password p",
  ])
  func `an unclear entry of a netrc file is named, and others are moved`(entry: String) throws {
    let plan = try plan("machine a password p\n\(entry)\nmachine b password q\n", .netrc)
    #expect(try moveAll(of: plan) == 2)
    #expect(try content(directory.path("file")) == "\(entry)\n")
    #expect(plan.refusals.count == 1 && plan.refusals[0].contains("line 2 of"))
    #expect(!plan.refusals[0].contains("s3"))
  }

  /// If all escapes were compared with each byte, this would take longer than any test may.
  @Test(.timeLimit(.minutes(2))) func `a password of a hundred thousand escapes is read`() throws {
    let quotes = String(repeating: "\"", count: 100_000)
    let plan = try plan(
      "machine h password \"\(quotes.replacing("\"", with: "\\\""))\"", .netrc)
    #expect(try moveAll(of: plan) == 1)
    #expect(try storage.items(matching: ItemQuery(details: .secret)).first?.secret?.text == quotes)
  }

  @Test(arguments: ["machine", "machine h password", "machine h password \"s3cret"])
  func `an entry of a netrc file that doesn't end is named`(entry: String) throws {
    let plan = try plan("machine a password p\n\(entry)", .netrc)
    #expect(try moveAll(of: plan) == 1)
    #expect(try content(directory.path("file")) == entry)
    #expect(plan.refusals.count == 1 && plan.refusals[0].contains("line 2 of"))
  }

  @Test func `docker's helper finds what was in its configuration`() throws {
    // The passwords are "p:1", a NUL at the end that docker drops, and a token.
    let plan = try plan(
      #"{"auths":{"h":{"auth":"YTpw\nOjE="},"i":{"auth":"YjpxAA=="},"https://j/v1/":"#
        + #"{"auth":"PHRva2VuPjo=","identitytoken":"tok"},"k":{}},"credsStore":"keyring"}"#,
      .docker)
    #expect(plan.lines.map { $0.prefix { $0 != " " } } == ["h", "i", "https://j/v1/"])
    #expect(try moveAll(of: plan) == 3)
    for (server, user, secret) in [
      ("h", "a", "p:1"), ("i", "b", "q"), ("https://j/v1/", "<token>", "tok"),
    ] {
      let reply = try DockerCredentials(storage).reply(to: .get, Secret(server))
      #expect(
        reply.text
          == "{\"Secret\":\"\(secret)\",\"ServerURL\":\"\(server)\",\"Username\":\"\(user)\"}\n")
    }
    #expect(
      try content(directory.path("file")) == #"{"auths":{"k":{}},"credsStore":"keyring"}"#)
  }

  @Test func `a login of docker that its helper can't keep stays in the file`() throws {
    let text = #"{"auths":{"h":{"auth":"YTpi","registrytoken":"s3cret"},"i":{"auth":"YTpi"}}}"#
    let plan = try plan(text, .docker)
    #expect(plan.refusals.count == 1 && !plan.refusals[0].contains("s3cret"))
    #expect(try moveAll(of: plan) == 1)
    #expect(
      try content(directory.path("file"))
        == #"{"auths":{"h":{"auth":"YTpi","registrytoken":"s3cret"}}}"#)
  }

  @Test(arguments: ["!", "YQ==", "Og==", "YTpi$"])
  func `a login of docker that can't be decoded is named and stays`(auth: String) throws {
    let rest = #"{"auths":{"h":{"auth":"\#(auth)"}}}"#
    let plan = try plan(rest.replacing("}}}", with: #"},"i":{"auth":"YTpi"}}}"#), .docker)
    #expect(plan.refusals.count == 1 && !plan.refusals[0].contains(auth))
    #expect(try moveAll(of: plan) == 1)
    #expect(try content(directory.path("file")) == rest)
  }

  @Test func `logins of the older file of docker are moved`() throws {
    let path = try file(
      #"{"https://h/v1/":{"auth":"YTpi","email":"a@b"},"i":{"auth":"!"}}"#, ".dockercfg")
    let plan = try PlaintextImport(ofFileAt: path, format: .docker, service: nil)
    #expect(plan.refusals.count == 1 && plan.lines.count == 1)
    #expect(try moveAll(of: plan) == 1)
    #expect(try content(path) == #"{"i":{"auth":"!"}}"#)
    let reply = try DockerCredentials(storage).reply(to: .get, Secret("https://h/v1/"))
    #expect(reply.text?.contains(#""Secret":"b""#) == true)
  }

  @Test func `other secrets in docker's configuration are named`() throws {
    let text =
      #"{"auths":{"h":{"auth":"YTpi"}},"HttpHeaders":{"Authorization":"Bearer s3cret","User-Agent":"x"},"#
      + #""proxies":{"default":{"httpProxy":"http://a:s3cret@p","noProxy":"h"}}}"#
    let plan = try plan(text, .docker)
    #expect(plan.refusals.count == 2 && plan.lines.count == 1, "\(plan.refusals)")
    #expect(!plan.refusals.joined().contains("s3cret"))
  }

  @Test(arguments: [
    (PlaintextFileFormat.json, #""": "s3cret""#), (.json, #""a\u0000b": "s3cret""#),
    (.docker, #""g": {"password": "s3cret"}"#),
    (.docker, #""g": {"auth": "YTpzM2NyZXQ=", "username": 5}"#),
    (.docker, #""g": {"auth": "YQBiOnMzY3JldA=="}"#),
  ])
  func `a value that no item can have is named, and the others are imported`(
    format: PlaintextFileFormat, odd: String
  ) throws {
    let plan = try plan(
      format == .json
        ? "{\(odd), \"b\": \"c\"}" : #"{"auths": {\#(odd), "h": {"auth": "YTpi"}}}"#, format)
    #expect(plan.refusals.count == 1 && plan.refusals.first?.contains("line 1 of") == true)
    #expect(plan.refusals.first?.contains("s3cret") == false && plan.lines.count == 1)
    #expect(try moveAll(of: plan) == 1)
    let rest = try content(directory.path("file"))
    #expect(
      rest == (format == .json ? "{\(odd)}" : #"{"auths": {\#(odd)}}"#))
  }

  @Test func `a value that is too large for an item is named, and the others are imported`() throws
  {
    let large = String(repeating: "x", count: ItemLimits.secretBytes + 1)
    let plan = try plan("A=\(large)\nB=1\n", .environment)
    #expect(plan.refusals.count == 1 && plan.lines.count == 1)
    #expect(try moveAll(of: plan) == 1 && password("A") == nil && password("B") == "1")
  }

  @Test func `a file with another name is refused before anything is written`() throws {
    let plan = try plan("A=1\n", .environment)
    try #require(link(directory.path("file"), directory.path("other")) == 0)
    let error = #expect(throws: SecureStorageError.self) {
      try plan.copy(to: storage, replacing: false, toMove: true)
    }
    #expect(error?.recoverySuggestion?.contains("Nothing was written") == true)
    #expect(try password("A") == nil)
    #expect(try plan.copy(to: storage, replacing: false) == 1)
  }

  @Test func `a file that can't be changed is said to have been imported`() throws {
    let plan = try plan("A=1\n", .environment)
    #expect(try plan.copy(to: storage, replacing: false) == 1)
    try #require(link(directory.path("file"), directory.path("other")) == 0)
    let error = #expect(throws: SecureStorageError.self) { try plan.move(to: storage) }
    #expect(
      error?.recoverySuggestion?.hasPrefix(
        "Remove the other ones, where the secrets would stay. All")
        == true)
  }

  @Test(arguments: [(0o600, nil), (0o640, "Its group"), (0o644, "Every user")])
  func `a file that others can read is named`(mode: mode_t, who: String?) throws {
    let plan = try plan("A=1\n", .environment)
    try #require(chmod(directory.path("file"), mode) == 0)
    #expect(plan.warning?.hasPrefix(who ?? "-") ?? (who == nil))
  }
}
