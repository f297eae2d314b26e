// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct MoveTests {
  private let source = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")
  private let other = ItemKey.password(service: "service", account: "other")

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
