// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import Synchronization
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
      #"{"a":{"b":"t","c":{"login":"l","password":"p"}},"n":[1,{"x":2}],"o":null,"e":{},"#
        + #""\ud83d":{"x":"no path can name it"}}"#)
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

  @Test func `an unclear value is named, and others are moved`() throws {
    let text = "A=1\nB=\"s3cret\\$\"\nC=2\nD=s3cret\nD=s3cret\n"
    let file = try TemporaryFile(text)
    let entries = try PlaintextSource.environmentFile(file.path).entries()
    let unclear = entries.filter { if case .unusable = $0.kind { true } else { false } }
    #expect(unclear.map(\.path) == [["B"], ["D"], ["D"]] && unclear.map(\.line) == [2, 4, 5])
    #expect(try move(.environmentFile(file.path)) == ["A": "1", "C": "2"])
    #expect(try file.content == "B=\"s3cret\\$\"\nD=s3cret\nD=s3cret\n")
  }

  /// The members to move from JSON, and what is left.
  private static let json: [(content: String, paths: [[String]], rest: String)] = [
    (#"{"a":"1", "b":"2", "c":"3"}"#, [["b"], ["c"]], #"{"a":"1"}"#),
    (#"{"a":"1", "b":"2", "c":"3"}"#, [["a"], ["c"]], #"{"b":"2"}"#),
    (#"{"a":"1", "b":"2", "c":"3"}"#, [["c"], ["a"], ["b"]], "{}"),
    (#"{"a":{"b":"1","c":"2"},"d":"3"}"#, [["a", "b"], ["a", "c"], ["d"]], #"{"a":{}}"#),
    (#"{"a":{"b":"1","c":{"d":"2"}}}"#, [["a", "c", "d"], ["a", "b"]], #"{"a":{"c":{}}}"#),
  ]

  @Test(arguments: json) func `members are cut out together`(
    content: String, paths: [[String]], rest: String
  ) throws {
    let file = try TemporaryFile(content)
    let mappings = paths.map { path in
      let key = ItemKey.password(service: "s", account: path.joined())
      return PlaintextMapping(path: path, as: key) { SecureItem(key: key, secret: $0) }
    }
    try Migration(of: mappings, from: .jsonFile(file.path), to: storage).move()
    #expect(try file.content == rest)
  }

  @Test func `a member of an object with a name that occurs twice is unusable`() throws {
    let file = try TemporaryFile(#"{"a":{"b":"1"},"a":{"c":"2"},"\u0061b":"3"}"#)
    let entries = try PlaintextSource.jsonFile(file.path).entries()
    #expect(entries.map(\.path) == [["a", "b"], ["a", "c"], ["ab"]])
    #expect(entries.map { $0.kind == .text } == [false, false, true])
  }

  @Test func `an app reads a format of its own`() throws {
    let file = try TemporaryFile("a:1;b:2;")
    let source = PlaintextSource.file(file.path) { content in
      content.text == "a:1;b:2;"
        ? [PlaintextEntry(path: ["a"], kind: .text, secret: Secret("1"), range: 0..<4)] : []
    }
    #expect(try move(source) == ["a": "1"])
    #expect(try file.content == "b:2;")
  }

  @Test(arguments: [(0..<4, 4..<8, true), (4..<8, 0..<4, true), (0..<4, 4..<9, false)])
  func `the entries of an app's format have any order, and must be in the file`(
    first: Range<Int>, second: Range<Int>, isRight: Bool
  ) throws {
    let file = try TemporaryFile("a:1;b:2;")
    let source = PlaintextSource.file(file.path) { _ in
      [("x", first), ("y", second)].map {
        PlaintextEntry(path: [$0], kind: .text, secret: Secret("1"), range: $1)
      }
    }
    if isRight {
      #expect(try move(source).count == 2)
      #expect(try file.content.isEmpty)
    } else {
      expectError(.invalidArgument) { try source.entries() }
    }
  }

  @Test func `a file is parsed as often for many values as for one`() throws {
    let counts = try [1, 100].map { count in
      let file = try TemporaryFile(String(repeating: "x", count: count))
      let parses = Mutex(0)
      let source = PlaintextSource.file(file.path) { content in
        parses.withLock { $0 += 1 }
        return (0..<content.count).map {
          PlaintextEntry(path: ["\($0)"], kind: .text, secret: Secret("x"), range: $0..<$0 + 1)
        }
      }
      #expect(try move(source).count == 100 || count == 1)
      #expect(try file.content.isEmpty)
      return parses.withLock(\.self)
    }
    #expect(counts[0] == counts[1])
  }

  @Test(arguments: ["\n", "\r", "\r\n"]) func `lines are counted by their ends`(
    end: String
  ) throws {
    let file = try TemporaryFile("# c\(end)\(end)A=1\(end)B='x\(end)y'\(end)C=2")
    let entries = try PlaintextSource.environmentFile(file.path).entries()
    #expect(entries.map(\.line) == [3, 4, 6])
  }
}
