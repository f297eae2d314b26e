// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringToolCommands

/// Tests of items that other programs have for themselves.
@Suite struct ForeignItemTests {
  private let base = InMemoryStorage()
  private let ours = ItemKey.password(service: "mail", account: "me")
  private let theirs = ItemKey(
    kind: .password, attributes: ["service": "mail", "account": "K1"], schema: "org.x")

  /// The commands for a storage that has an item of each.
  private func commands() throws -> ItemCommands {
    try base.setPassword("ours", for: ours)
    try base.setPassword("theirs", for: theirs)
    return ItemCommands(AlteringStorage(base: base, foreign: [theirs]))
  }

  private static let shapes: [(ItemKey, String)] = [
    (.password(service: "s", account: "a"), "--service s --account a"),
    (
      .password(service: "s", account: "a").with(schema: "org.x"),
      "--service s --account a --schema org.x"
    ),
    (
      .value(service: "s", account: "a b", accessGroup: "g"),
      "--service s --account 'a b' --access-group g --value"
    ),
    (.credentials(service: "s", label: "l"), "--service s --credential l"),
    (
      .internetPassword(server: InternetServer("h", protocol: .https), account: "a")
        .with(schema: "org.git.Password"),
      "--server h --protocol https --account a --schema org.git.Password"
    ),
    (
      ItemKey(kind: .password, attributes: ["service": "s", "account": "K1"]),
      "--service s --attribute account=K1"
    ),
    (
      ItemKey(kind: .password, attributes: ["service": "s", "username": "a", "folder": "in box"]),
      "--service s --account a --attribute 'folder=in box'"
    ),
    (
      ItemKey(kind: .value, attributes: ["user": "a", "server": "=h"], schema: "org.qt.keychain"),
      "--attribute server==h --attribute user=a --schema org.qt.keychain --value"
    ),
    (ItemKey(kind: .password, attributes: ["service": "s"]), "--attribute service=s"),
    (
      ItemKey(kind: .internetPassword, attributes: ["domain": "d", "user": "u"]),
      "--attribute domain=d --attribute user=u"
    ),
    (
      ItemKey(kind: .internetPassword, attributes: ["server": "h", "type": "x"]),
      "--attribute server=h --attribute type=x"
    ),
    (
      ItemKey(kind: ItemKind(rawValue: "docker"), attributes: ["docker_cli": "1"]),
      "--attribute docker_cli=1"
    ),
  ]

  @Test(arguments: shapes) func `a key of any shape has arguments`(key: ItemKey, arguments: String)
  {
    #expect(ItemSelection.arguments(for: key) == arguments)
  }

  private static let selections: [(ItemSelection, ItemKey)] = [
    (
      ItemSelection(service: "s", attributes: ["account": "K1"], schema: "org.x"),
      ItemKey(
        kind: .password, attributes: ["service": "s", "account": "K1"], schema: "org.x")
    ),
    (
      ItemSelection(account: "a", accessGroup: "g", isValue: true, attributes: ["x": "y"]),
      ItemKey(kind: .value, attributes: ["username": "a", "access-group": "g", "x": "y"])
    ),
    (
      ItemSelection(service: "s", credential: "l", schema: "org.x"),
      .credentials(service: "s", label: "l").with(schema: "org.x")
    ),
    (
      ItemSelection(server: InternetServer("h"), schema: "org.x"),
      .internetPassword(server: InternetServer("h")).with(schema: "org.x")
    ),
  ]

  @Test(arguments: selections) func `a selection names a key of any shape`(
    selection: ItemSelection, key: ItemKey
  ) throws {
    #expect(try selection.key() == key)
    let other = key.with(schema: "org.y")
    for key in [key.with(schema: nil), other] { try base.setPassword("other", for: key) }
    let commands = ItemCommands(base)
    try commands.set(Secret("s3cret"), for: selection)
    #expect(try commands.list(selection).lines.count == (key.schema == nil ? 2 : 1))
    #expect(try commands.secret(selection) == Secret("s3cret"))
    #expect(try commands.remove(selection) == 1)
    #expect(try !base.exists(key) && base.exists(other))
  }

  @Test(arguments: [
    ItemSelection(server: InternetServer("h"), attributes: ["a": "b"]),
    ItemSelection(service: "s", credential: "l", attributes: ["a": "b"]),
    ItemSelection(service: "s", attributes: ["service": "s"]),
    ItemSelection(account: "a", attributes: ["username": "a"]),
    ItemSelection(service: "s", attributes: ["xdg:schema": "org.x"]),
  ])
  func `a selection that contradicts itself is refused`(selection: ItemSelection) {
    #expect(throws: ItemSelection.Unclear.self) { try selection.check() }
  }

  @Test func `an item is another one with another schema or further attributes`() throws {
    let commands = try commands()
    for selection in [
      ItemSelection(service: "mail", attributes: ["account": "K1"]),
      ItemSelection(service: "mail", attributes: ["account": "K1"], schema: "org.y"),
      ItemSelection(service: "mail", account: "K1"),
      ItemSelection(service: "mail", account: "me", attributes: ["account": "K1"]),
    ] {
      let failure = #expect(throws: ToolFailure.self) { try commands.remove(selection) }
      let arguments = "  --service mail --attribute account=K1 --schema org.x"
      #expect(failure?.recoverySuggestion.contains(arguments) == true, "\(selection)")
    }
    #expect(
      try commands.secret(
        ItemSelection(service: "mail", attributes: ["account": "K1"], schema: "org.x"))
        == Secret("theirs"))
    #expect(try base.items(matching: ItemQuery()).count == 2)
  }

  /// Another program's item with exactly the parts isn't taken, either, if its schema isn't named.
  @Test func `only an item of this package is found without its schema`() throws {
    let selection = ItemSelection(service: "mail", account: "me")
    let key = ours.with(schema: "org.x")
    try base.setPassword("s3cret", for: key)
    #expect(try ItemCommands(base).secret(selection) == Secret("s3cret"))
    try ItemCommands(base).set(Secret("new"), for: selection)
    #expect(try base.items(matching: ItemQuery()).map(\.key) == [key])
    #expect(throws: SecureStorageError.self) {
      try ItemCommands(base).set(Secret("other"), for: selection, mode: .add)
    }
    let foreign = ItemCommands(AlteringStorage(base: base, foreign: [key]))
    #expect(throws: ToolFailure.self) { try foreign.secret(selection) }
    #expect(throws: ToolFailure.self) { try foreign.remove(selection) }
    try foreign.set(Secret("ours"), for: selection, mode: .add)
    #expect(try base.password(for: key) == "new" && base.password(for: ours) == "ours")
  }

  @Test func `the kind of an item with other attributes doesn't matter`() throws {
    let key = ItemKey(kind: .internetPassword, attributes: ["domain": "d", "user": "u"])
    try base.setPassword("s3cret", for: key)
    let commands = ItemCommands(AlteringStorage(base: base, foreign: [key]))
    let selection = ItemSelection(attributes: ["domain": "d", "user": "u"])
    #expect(try commands.secret(selection) == Secret("s3cret"))
    let value = ItemSelection(isValue: true, attributes: ["domain": "d", "user": "u"])
    #expect(throws: ToolFailure.self) { try commands.secret(value) }
  }

  @Test func `a listing marks another program's item and has its schema`() throws {
    let listing = try commands().list(ItemSelection())
    #expect(listing.lines.count == 2)
    let lines = listing.lines.filter { $0.hasSuffix("  another program's") }
    #expect(lines.count == 1 && lines[0].contains("account=K1 service=mail xdg:schema=org.x  "))
    let paragraphs = listing.paragraphs.filter { $0.contains("\nanother program's: yes\n") }
    let paragraph = try #require(paragraphs.first)
    #expect(paragraph.contains("key: account=K1 service=mail xdg:schema=org.x\n"))
    let json = try JSONSerialization.jsonObject(with: Data(listing.json().utf8))
    let items = try #require(json as? [[String: Any]])
    let schemas = items.map { [$0["isForeign"] as? Bool == true ? "theirs" : "ours": $0["schema"]] }
    #expect(schemas.contains { $0["theirs"] as? String == "org.x" })
    #expect(schemas.contains { $0["ours"] as? String? == .some(nil) })
  }

  @Test func `a listing can be of one schema`() throws {
    let commands = try commands()
    #expect(try commands.list(ItemSelection(schema: "org.x")).lines.count == 1)
    #expect(try commands.list(ItemSelection(service: "mail", schema: "org.y")).isEmpty)
    let usual = ItemSelection(schema: "org.freedesktop.Secret.Generic")
    let lines = try commands.list(usual).lines
    #expect(lines.count == 1 && lines.first?.contains("username=me") == true)
    let destination = InMemoryStorage()
    let copied = try commands.copy(
      ItemSelection(schema: "org.x"), allPrograms: true, to: destination, replacing: false)
    #expect(try copied.copied == 1 && destination.exists(theirs))
  }

  enum Command: CaseIterable { case remove, move, rename, copy }

  /// Runs a command for all items of the service, and returns what it leaves.
  private func run(_ command: Command, allPrograms: Bool) throws -> (count: Int, left: [String]) {
    let commands = try commands()
    let selection = ItemSelection(service: "mail")
    let destination = InMemoryStorage()
    let count =
      switch command {
      case .remove: try commands.remove(selection, all: true, allPrograms: allPrograms)
      case .move:
        try commands.move(
          selection, all: true, allPrograms: allPrograms, to: destination, replacing: false)
      case .rename:
        try commands.rename(
          selection, all: true, allPrograms: allPrograms, to: KeyChanges([.service: "post"]))
      case .copy:
        try commands.copy(
          ItemSelection(), allPrograms: allPrograms, to: destination, replacing: false
        ).copied
      }
    if command == .copy {
      let again = try commands.copy(
        ItemSelection(), allPrograms: allPrograms, to: destination, replacing: true)
      return (count, again.left)
    }
    return (count, try commands.left(selection))
  }

  @Test(arguments: Command.allCases)
  func `all items are those of this package, and the others are named`(command: Command) throws {
    let outcome = try run(command, allPrograms: false)
    #expect(outcome.count == 1 && outcome.left.count == 1)
    let name = "password (account: K1, service: mail, xdg:schema: org.x)"
    #expect(outcome.left == ["left: \(name), which another program has stored"])
    #expect(try base.password(for: theirs) == "theirs")
    #expect(try base.exists(ours) == (command == .copy))
  }

  @Test(arguments: Command.allCases)
  func `items of all programs can be selected`(command: Command) throws {
    let outcome = try run(command, allPrograms: true)
    #expect(outcome.count == 2 && outcome.left.isEmpty)
    #expect(try base.items(matching: .service("mail")).isEmpty == (command != .copy))
    let renamed = ItemKey(
      kind: .password, attributes: ["service": "post", "account": "K1"], schema: "org.x")
    #expect(try base.exists(renamed) == (command == .rename))
  }

  @Test func `another program's item is copied if all of it is named`() throws {
    let commands = try commands()
    for (selection, count) in [
      (ItemSelection(service: "mail", attributes: ["account": "K1"]), 0),
      (ItemSelection(service: "mail", attributes: ["account": "K1"], schema: "org.x"), 1),
    ] {
      let destination = InMemoryStorage()
      let report = try commands.copy(selection, to: destination, replacing: false)
      #expect(report.copied == count && report.left.count == 1 - count)
      #expect(try destination.exists(theirs) == (count == 1))
    }
  }
}
