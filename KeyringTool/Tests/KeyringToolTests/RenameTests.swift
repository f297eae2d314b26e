// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringToolCommands

@Suite struct RenameTests {
  private let storage = InMemoryStorage()

  private func rename(
    _ selection: ItemSelection, all: Bool = false, _ parts: [KeyChanges.Part: String],
    _ prepare: () throws -> Void = {}
  ) throws -> Int {
    try ItemCommands(storage).rename(
      selection, all: all, to: try KeyChanges(parts), beforeRemoving: prepare)
  }

  private func add(_ key: ItemKey) throws {
    var item = SecureItem(key: key, secret: Secret("s3cret"), label: "A label")
    item.expires = Date(timeIntervalSince1970: 1_800_000_000)
    try storage.save(item, mode: .add)
  }

  @Test(arguments: [
    (ItemSelection(service: "s", account: "a"), [KeyChanges.Part.account: "b"]),
    (
      ItemSelection(service: "s", account: "a", accessGroup: "g"),
      [.accessGroup: "", .service: "t"]
    ),
    (ItemSelection(service: "s", account: "a", isValue: true), [.accessGroup: "g"]),
    (ItemSelection(service: "s", credential: "l"), [.credential: "m", .service: "t"]),
    (
      ItemSelection(account: "a", server: InternetServer("h", port: 1)),
      [.protocol: "https", .port: "", .server: "i", .path: "p"]
    ),
  ])
  func `parts of a key change, and everything else stays`(
    selection: ItemSelection, parts: [KeyChanges.Part: String]
  ) throws {
    let old = try selection.key()
    try add(old)
    #expect(try rename(selection, parts) == 1)
    let items = try storage.items(matching: ItemQuery(details: .all))
    #expect(try items.map(\.key) == [KeyChanges(parts).newKey(for: old)])
    #expect(items[0].key != old && items[0].key.kind == old.kind)
    #expect(items[0].label == "A label" && items[0].secret == Secret("s3cret"))
    #expect(items[0].expires == Date(timeIntervalSince1970: 1_800_000_000))
  }

  @Test func `a schema stays, or changes`() throws {
    let key = ItemKey(kind: .password, attributes: ["service": "s", "account": "K1"], schema: "x")
    try add(key)
    var selection = ItemSelection(service: "s", attributes: ["account": "K1"], schema: "x")
    #expect(try rename(selection, [.service: "t"]) == 1)
    selection.service = "t"
    #expect(try rename(selection, [.schema: "y"]) == 1)
    selection.schema = "y"
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [selection.key()])
    #expect(try rename(selection, [.schema: ""]) == 1)
    selection.schema = nil
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [selection.key()])
  }

  @Test func `all items of a service are renamed`() throws {
    for account in ["a", "b"] { try add(.password(service: "s", account: account)) }
    try add(.credentials(service: "s", label: "l"))
    try add(.password(service: "other", account: "a"))
    #expect(try rename(ItemSelection(service: "s"), all: true, [.service: "t"]) == 3)
    #expect(try storage.items(matching: .service("t")).count == 3)
    #expect(try storage.items(matching: .service("s")).isEmpty)
  }

  @Test func `another item isn't replaced`() throws {
    try add(.password(service: "s", account: "a"))
    try storage.setPassword("theirs", for: .password(service: "s", account: "b"))
    let error = #expect(throws: SecureStorageError.self) {
      try rename(ItemSelection(service: "s", account: "a"), [.account: "b"])
    }
    #expect(error?.code == .itemAlreadyExists)
    #expect(error?.message == "There is another item with the new name.")
    #expect(try storage.items(matching: ItemQuery()).count == 2)
  }

  @Test func `both items are there until the new one is written`() throws {
    try add(.password(service: "s", account: "a"))
    var accounts: [String] = []
    let count = try rename(ItemSelection(service: "s", account: "a"), [.account: "b"]) {
      accounts = try storage.service("s").names()
    }
    #expect(count == 1 && accounts == ["a", "b"])
    struct Killed: Error {}
    #expect(throws: Killed.self) {
      try rename(ItemSelection(service: "s", account: "b"), [.account: "c"]) { throw Killed() }
    }
    #expect(try storage.service("s").names() == ["b", "c"])
    #expect(try rename(ItemSelection(service: "s", account: "b"), [.account: "c"]) == 1)
    #expect(try storage.service("s").names() == ["c"])
  }

  @Test func `an item whose new name is lost before the removal stays`() throws {
    try add(.password(service: "s", account: "a"))
    let failure = #expect(throws: ToolFailure.self) {
      try rename(ItemSelection(service: "s", account: "a"), [.account: "b"]) {
        try storage.remove(.password(service: "s", account: "b"))
      }
    }
    #expect(failure?.status == .damaged)
    #expect(try storage.service("s").names() == ["a"])
  }

  @Test(arguments: [
    (
      ["server": "h", "user": "ada", "object": "", "port": ""],
      ItemSelection(account: "ada", server: InternetServer("h"))
    ),
    (["server": "https://h/"], ItemSelection(server: InternetServer("https://h/"))),
  ])
  func `an item of another program is renamed`(
    parts: [String: String], selection: ItemSelection
  ) throws {
    try add(ItemKey(kind: .internetPassword, attributes: parts))
    #expect(try rename(selection, [.server: "i"]) == 1)
    let keys = try storage.items(matching: ItemQuery()).map(\.key)
    #expect(keys.map(\.attributes) == [parts.merging(["server": "i"]) { $1 }])
  }

  @Test(arguments: [("0080", "80"), ("+80", "80"), ("65535", "65535")])
  func `a port is stored as set does`(port: String, stored: String) throws {
    try add(.internetPassword(server: InternetServer("h"), account: "a"))
    let selection = ItemSelection(account: "a", server: InternetServer("h"))
    #expect(try rename(selection, [.port: port]) == 1)
    #expect(try storage.items(matching: ItemQuery()).map { $0.key.attributes["port"] } == [stored])
  }

  @Test(arguments: [
    (KeyChanges.Part.server, "https://x/y"), (.server, "a b"), (.port, "65536"), (.port, "x"),
    (.port, "-1"),
  ])
  func `a part that set refuses is refused`(part: KeyChanges.Part, value: String) {
    #expect(throws: ItemSelection.Unclear.self) { try KeyChanges([part: value]) }
  }

  @Test func `nothing is renamed if there is nothing`() throws {
    #expect(throws: ToolFailure.self) {
      try rename(ItemSelection(service: "s", account: "a"), [.account: "b"])
    }
    #expect(try rename(ItemSelection(service: "s"), all: true, [.service: "t"]) == 0)
  }

  @Test(arguments: [
    (ItemSelection(service: "s", account: "a"), false, [KeyChanges.Part.credential: "l"]),
    (ItemSelection(service: "s", account: "a"), false, [.account: ""]),
    (ItemSelection(service: "s", account: "a"), false, [.account: "a"]),
    (ItemSelection(service: "s"), true, [.account: "c"]),
    (ItemSelection(service: "s"), false, [.service: "t"]),
  ])
  func `unclear changes are refused`(
    selection: ItemSelection, all: Bool, parts: [KeyChanges.Part: String]
  ) throws {
    for account in ["a", "b"] { try add(.password(service: "s", account: account)) }
    #expect(throws: ItemSelection.Unclear.self) { try rename(selection, all: all, parts) }
    #expect(try storage.service("s").names() == ["a", "b"])
  }
}
