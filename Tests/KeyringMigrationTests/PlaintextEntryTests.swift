// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import TestPrograms
import Testing

/// The names that files of different formats have, and what is left when their values are moved.
@Suite struct PlaintextEntryTests {
  private let storage = InMemoryStorage()

  private func key(_ entry: PlaintextEntry) -> ItemKey {
    .password(service: "s", account: entry.path.joined(separator: " "))
  }

  /// Moves all values of a file, and returns them by the names of their items.
  private func move(_ source: PlaintextSource) throws -> [String: String] {
    let entries = try source.entries().filter { $0.kind == .text }
    try Migration(of: entries.map { $0.mapping(to: key($0)) }, from: source, to: storage).move()
    let items = try storage.items(matching: ItemQuery(details: .secret))
    return Dictionary(
      uniqueKeysWithValues: items.map { ($0.key.account ?? "", $0.secret?.text ?? "?") })
  }

  @Test func `variables are listed with their lines`() throws {
    let file = try TemporaryFile("# c\nA=1\nB=\"x\ny\"\nexport C=''\n")
    let entries = try PlaintextSource.environmentFile(file.path).entries()
    #expect(entries.map(\.path) == [["A"], ["B"], ["C"]])
    #expect(entries.map(\.line) == [2, 3, 5])
    #expect(entries.map { $0.secret.text } == ["1", "x\ny", ""])
  }

  @Test func `a file that is only read may be read-only and have several names`() throws {
    let file = try TemporaryFile("A=1\n", mode: 0o444)
    try #require(link(file.path, file.directory + "/other") == 0)
    let source = PlaintextSource.environmentFile(file.path)
    let mapping = try #require(try source.entries().first).mapping(
      to: .password(service: "s", account: "A"))
    let migration = Migration(of: [mapping], from: source, to: storage)
    #expect(try migration.copy().count == 1)
    expectError(.invalidArgument) { try migration.move() }
    #expect(try file.content == "A=1\n")
  }

  @Test func `each value of nested JSON has a name and a kind`() throws {
    let file = try TemporaryFile(
      #"{"a":{"b":"t","c":{"login":"l","password":"p"}},"n":[1,{"x":2}],"o":null,"e":{}}"#)
    let entries = try PlaintextSource.jsonFile(file.path).entries()
    #expect(entries.map(\.path) == [["a", "b"], ["a", "c"], ["n"]])
    #expect(entries.map(\.kind) == [.text, .credential, .json])
    #expect(entries.map { $0.secret.text }.last == #"[1,{"x":2}]"#)
    let list = try TemporaryFile("[]")
    expectError(.undecodable) { try PlaintextSource.jsonFile(list.path).entries() }
  }

  @Test func `the names of an app's values aren't known`() {
    let source = PlaintextSource.values(read: { _ in nil }, remove: { _ in })
    expectError(.invalidArgument) { try source.entries() }
  }

  @Test func `a missing file has no values`() throws {
    #expect(try PlaintextSource.netrcFile("/nonexistent/.netrc").entries().isEmpty)
  }

  /// The content of `.netrc`, the passwords in it, and what is left.
  private static let netrc: [(content: String, values: [String: String], rest: String)] = [
    ("machine h login a password p\n", ["h a": "p"], ""),
    ("machine h password p", ["h": "p"], ""),
    ("\u{FEFF}machine h login a password p\r\n# c\r\n", ["h a": "p"], "\u{FEFF}# c\r\n"),
    (
      "# c\nmachine h\n\tlogin a # of ada\n\tpassword p\n\nmachine i user b password q # last\n",
      ["h a": "p", "i b": "q"], "# c\n\n # last\n"
    ),
    (#"machine h login "a b" password "p \"\\ #q""#, ["h a b": #"p "\ #q"#], ""),
    ("machine h login a password p# machine i password q\n", ["h a": "p#", "i": "q"], ""),
    ("machine h login a password \u{1F511}\"x\n", ["h a": "\u{1F511}\"x"], ""),
    ("machine h login a password \"\"\n", ["h a": ""], ""),
    (
      "macdef m\nmachine no password no\n\nmachine h login a password p\nmachine h login b "
        + "password q\n",
      ["h a": "p", "h b": "q"], "macdef m\nmachine no password no\n\n"
    ),
    (
      "machine h login a\nmachine i login b account c password q\ndefault login d password r\n",
      [:],
      "machine h login a\nmachine i login b account c password q\ndefault login d password r\n"
    ),
  ]

  @Test(arguments: netrc) func `the entries of a netrc file are moved`(
    content: String, values: [String: String], rest: String
  ) throws {
    let file = try TemporaryFile(content)
    #expect(try move(.netrcFile(file.path)) == values)
    #expect(try file.content == rest)
  }

  @Test func `entries that no item can keep are told with their lines`() throws {
    let file = try TemporaryFile(Self.netrc[9].content)
    let entries = try PlaintextSource.netrcFile(file.path).entries()
    #expect(entries.map(\.line) == [1, 2, 3])
    #expect(entries.allSatisfy { if case .unusable = $0.kind { true } else { false } })
  }

  @Test(arguments: [
    (#"machine h password s3\cret"#, SecureStorageError.Code.undecodable),
    (#"machine h password "s3\ncret""#, .undecodable),
    ("machine h password \"s3cret", .undecodable),
    ("machine h password \"s3cret\"x", .undecodable), ("machine h password", .undecodable),
    ("machine h login a s3cret p", .undecodable), ("s3cret", .undecodable),
    ("machine h login a password #s3cret", .undecodable),
    ("machine", .undecodable),
    ("machine h password s3cret machine h password x", .ambiguous),
  ])
  func `a netrc file that programs read differently is refused`(
    content: String, code: SecureStorageError.Code
  ) throws {
    let file = try TemporaryFile("\n" + content)
    let error = #expect(throws: SecureStorageError.self) {
      try PlaintextSource.netrcFile(file.path).entries()
    }
    #expect(error?.code == code)
    #expect(error?.description.contains("s3") == false)
    #expect(code == .ambiguous || error?.message.contains("Line 2") == true)
  }

  @Test func `the lines of git's helper are moved`() throws {
    let file = try TemporaryFile(
      "https://a:p%40%2F%25@h\n\nhttps://a:q@h:8443/x.git\nno line of git: s3cret\nhttps://b@h\n")
    let entries = try PlaintextSource.gitCredentialsFile(file.path).entries()
    #expect(entries.map(\.line) == [1, 3, 4, 5])
    #expect(entries.map(\.path) == [["https://a@h"], ["https://a@h:8443/x.git"], [], []])
    #expect(
      try move(.gitCredentialsFile(file.path))
        == ["https://a@h": "p@/%", "https://a@h:8443/x.git": "q"])
    #expect(try file.content == "\nno line of git: s3cret\nhttps://b@h\n")
  }

  @Test func `a password with an @ that isn't encoded isn't a part of a name`() throws {
    let file = try TemporaryFile("https://ada:pa@s3cret@h\nhttps://a:p@h/x@y\n")
    let entries = try PlaintextSource.gitCredentialsFile(file.path).entries()
    #expect(entries.map(\.path) == [[], ["https://a@h/x@y"]])
    #expect(entries[0].kind == .unusable("isn't a URL with a login and a password"))
  }

  @Test(arguments: ["\n", "\r", "\r\n"]) func `lines are counted by their ends`(
    end: String
  ) throws {
    let file = try TemporaryFile("# c\(end)\(end)A=1\(end)B='x\(end)y'\(end)C=2")
    let entries = try PlaintextSource.environmentFile(file.path).entries()
    #expect(entries.map(\.line) == [3, 4, 6])
  }

  @Test func `a token that is used as the login has no name`() throws {
    let urls = try TemporaryFile("https://t0ken:x-oauth-basic@h\nhttps://t0ken:@h\n")
    let netrc = try TemporaryFile("machine h login t0ken password x-oauth-basic\n")
    let entries =
      try PlaintextSource.gitCredentialsFile(urls.path).entries()
      + PlaintextSource.netrcFile(netrc.path).entries()
    #expect(entries.map(\.line) == [1, 2, 1])
    for entry in entries {
      #expect(entry.kind == .unusable("has a token as the login, which an item would show"))
      #expect(!entry.path.contains { $0.contains("t0ken") })
    }
  }

  @Test(arguments: [
    ("https://a:s3%4@h\n", SecureStorageError.Code.undecodable),
    ("https://a:s3%zz@h", .undecodable), ("https://a:s3@h\nhttps://a:x@h\n", .ambiguous),
  ])
  func `an unclear line of git's helper is refused`(
    content: String, code: SecureStorageError.Code
  ) throws {
    let file = try TemporaryFile(content)
    let error = #expect(throws: SecureStorageError.self) {
      try PlaintextSource.gitCredentialsFile(file.path).entries()
    }
    #expect(error?.code == code && error?.description.contains("s3") == false)
  }
}
