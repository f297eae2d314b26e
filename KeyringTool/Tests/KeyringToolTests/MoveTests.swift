// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import KeyringToolCommands
import Testing

@Suite struct MoveTests {
  private let source = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

  @Test func `a move takes every part of an item along`() throws {
    let item = SecureItem(
      key: key, secret: Secret("s3cret"), label: "A label", attributes: ["note": "kept"])
    try source.save(item, mode: .add)
    let destination = InMemoryStorage()
    #expect(try move(to: destination) == 1)
    let moved = try #require(try destination.item(for: key))
    #expect(moved.secret == item.secret)
    #expect(moved.label == item.label && moved.attributes == item.attributes)
    #expect(try !source.exists(key))
    #expect(try move(to: destination) == 0)
  }

  @Test func `a move refuses to replace an item before it writes anything`() throws {
    let destination = InMemoryStorage()
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: other)
    try destination.setPassword("theirs", for: key)
    let error = #expect(throws: SecureStorageError.self) { try move(to: destination) }
    #expect(error?.code == .itemAlreadyExists)
    #expect(error?.recoverySuggestion?.contains("--replace") == true)
    #expect(try destination.password(for: key) == "theirs")
    #expect(try !destination.exists(other))
    #expect(try source.service("service").names() == ["account", "other"])

    #expect(try move(to: destination, replacing: true) == 2)
    #expect(try destination.password(for: key) == "first")
  }

  @Test func `a move can replace an item that has more attributes`() throws {
    let destination = InMemoryStorage()
    try source.setPassword("ours", for: key)
    try destination.save(
      SecureItem(key: key, secret: Secret("theirs"), attributes: ["note": "kept"]), mode: .add)
    #expect(try move(to: destination, replacing: true) == 1)
    #expect(try destination.password(for: key) == "ours")
  }

  @Test func `the source stays when the destination is locked`() throws {
    try source.setPassword("s3cret", for: key)
    let destination = InMemoryStorage()
    try destination.lock()
    let error = #expect(throws: SecureStorageError.self) { try move(to: destination) }
    #expect(error?.code == .locked)
    #expect(try source.password(for: key) == "s3cret")
  }

  @Test func `a second move completes one that failed halfway`() throws {
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: other)
    let destination = InMemoryStorage()
    let full = FaultyStorage(destination)
    full.fail { [key] call in
      call.operation == .save && call.keys == [key]
        ? SecureStorageError(.other, operation: .save, backendName: "full") : nil
    }
    #expect(throws: SecureStorageError.self) { try move(to: full) }
    #expect(try source.service("service").names() == ["account", "other"])
    #expect(try destination.service("service").names() == ["other"])
    #expect(try move(to: destination) == 2)
    #expect(try destination.service("service").names() == ["account", "other"])
    #expect(try source.service("service").names().isEmpty)
  }

  @Test func `the source stays when the destination stores something else`() throws {
    try source.setPassword("s3cret", for: key)
    let error = #expect(throws: SecureStorageError.self) {
      try move(to: AlteringStorage(base: InMemoryStorage()) { $0.secret = Secret("garbled") })
    }
    #expect(error?.code == .verificationFailed)
    #expect(try source.password(for: key) == "s3cret")
  }

  @Test func `an item that the destination has lost before the removal stays`() throws {
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: other)
    let destination = InMemoryStorage()
    let failure = #expect(throws: ToolFailure.self) {
      try move(to: destination) { try destination.remove(self.other) }
    }
    #expect(failure?.status == .damaged && failure?.message.contains("other") == true)
    #expect(try source.service("service").names() == ["account", "other"])
    #expect(try !destination.exists(other))
    #expect(try move(to: destination) == 2)
  }

  @Test func `an item with empty parts is moved`() throws {
    let key = ItemKey(
      kind: .internetPassword, attributes: ["server": "h", "user": "ada", "port": ""])
    try source.setPassword("s3cret", for: key)
    let selection = ItemSelection(account: "ada", server: InternetServer("h"))
    let destination = InMemoryStorage()
    func move() throws -> Int {
      try ItemCommands(source).move(selection, to: destination, replacing: false)
    }
    #expect(try move() == 1)
    #expect(try destination.password(for: key) == "s3cret" && !source.exists(key))
    #expect(throws: ToolFailure.self) { try move() }
  }

  @Test(arguments: [true, false])
  func `one collection under two names loses nothing`(replacing: Bool) throws {
    try source.setPassword("s3cret", for: key)
    let sameByName = source.collection(labeled: try #require(source.collections().first).label)
    let error = #expect(throws: ToolFailure.self) { try move(to: sameByName, replacing: replacing) }
    #expect(error?.message == "The items are already in that collection.")
    #expect(try source.items(matching: ItemQuery()).map(\.key) == [key])
  }

  @discardableResult
  private func move(
    to destination: any SecureStorage, replacing: Bool = false,
    beforeRemoving prepare: () throws -> Void = {}
  ) throws -> Int {
    try ItemCommands(source).move(
      ItemSelection(service: "service"), all: true, to: destination, replacing: replacing,
      beforeRemoving: prepare)
  }
}
