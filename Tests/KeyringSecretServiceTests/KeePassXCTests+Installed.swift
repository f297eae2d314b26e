// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// KeePassXC as it is installed, with confirmations, several databases, and attributes of its own.
extension KeePassXCTests {
  // MARK: - Confirmations, as in a new installation

  /// Calls the body with a database that has an item of another process.
  ///
  /// This process may not use the item yet.
  private func withItemOfAnotherProcess(
    _ body: (PrivateBus, Screen) throws -> Void
  ) throws {
    let screen = try Screen()
    let bus = try PrivateBus()
    let keyring = try KeePassXC(on: bus, confirming: true, screen: screen)
    let writer = try Program(
      Program.workerPath, ["save", "service", "account", "s3cret"], environment: bus.environment)
    try #require(writer.finish().status == 0)
    try body(bus, screen)
    try keyring.kill()
  }

  private func read(_ interaction: String, _ bus: PrivateBus) throws -> Program {
    try Program(
      Program.workerPath, ["read", "service", "account", interaction],
      environment: bus.environment)
  }

  @Test(arguments: [(Screen.User.Answer.allow, "s3cret"), (.deny, "error userCanceled")])
  func `a new process reads an item if the user allows it`(
    answer: Screen.User.Answer, line: String
  ) throws {
    try withItemOfAnotherProcess { bus, screen in
      let user = try Screen.User(answer, at: screen)
      let reader = try read("allowed", bus)
      #expect(try reader.readLine() == line)
      try user.finish()
      #expect(try reader.finish().status == 0)
    }
  }

  @Test func `the user is not asked if questions are not allowed`() throws {
    try withItemOfAnotherProcess { bus, screen in
      let reader = try read("never", bus)
      #expect(try reader.readLine() == "error locked")
      #expect(try reader.finish().status == 0)
      #expect(try !screen.shows("Access Request"))
      // Everything except the secret can be listed.
      var query = ItemQuery.service("service", details: .metadata)
      query.allowsUnlocking = false
      let found = try bus.storage(.never).items(matching: query)
      #expect(found.map(\.key) == [StorageUse.key] && found.first?.isLocked == true)
    }
  }

  @Test(arguments: [Operation.read, .readAll, .update, .save])
  func `an operation that the user allows is done`(operation: Operation) throws {
    try withItemOfAnotherProcess { bus, screen in
      let user = try Screen.User(.allow, at: screen)
      #expect(try operation.outcome(bus.storage()) == operation.outcomeWhenUnlocked)
      try user.finish()
      #expect(try bus.storage().password(for: StorageUse.key) == operation.passwordAfterwards)
      let items = try bus.storage().items(matching: .service("service"))
      #expect(items.count == 1)
    }
  }

  // MARK: - Two databases

  /// Starts a keyring with two databases, of which the first one is in front and has an item.
  private func twoDatabases() throws -> (PrivateBus, KeePassXC) {
    let bus = try PrivateBus()
    let keyring = try KeePassXC(on: bus, databases: ["first", "second"])
    try keyring.bringToFront("first")
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    return (bus, keyring)
  }

  /// Moves the alias of the default collection, which follows the database that the user looks at.
  @Test func `an app keeps its database if the user turns to another`() throws {
    let (bus, keyring) = try twoDatabases()
    let storage = bus.storage()
    try keyring.bringToFront("second")
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    try storage.setPassword("changed", for: StorageUse.key)
    try storage.setPassword("another", for: .password(service: "service", account: "another"))
    try keyring.bringToFront("first")
    #expect(try storage.password(for: StorageUse.key) == "changed")
    #expect(try storage.items(matching: .service("service")).count == 2)
    let second = SecretServiceStorage(
      options: .init(collection: .named("second"), busAddress: bus.address))
    #expect(try second.items(matching: .service("service")).isEmpty)
  }

  @Test func `an app locks the database that it reads if the user turns to another`() throws {
    let (bus, keyring) = try twoDatabases()
    let storage = bus.storage()
    try keyring.bringToFront("second")
    try storage.lock()
    #expect(try storage.isLocked())
    expectError(.locked) { _ = try bus.storage(.never).password(for: StorageUse.key) }
    #expect(try !storage.collection(labeled: "second").isLocked())
  }

  @Test func `an app keeps its database if the databases open in another order`() throws {
    let (bus, keyring) = try twoDatabases()
    let storage = bus.storage()
    try keyring.lock()
    for order in [["first", "second"], ["second", "first"]] {
      try keyring.kill()
      try keyring.start(order)
      #expect(try storage.password(for: StorageUse.key) == "s3cret", "\(order)")
    }
  }

  // MARK: - Attributes of its own

  /// Expects that such a name is refused, or that nothing of the item is lost.
  @Test(arguments: ["Title", "UserName", "URL", "Notes"])
  func `an attribute with a name that KeePassXC uses is not lost`(name: String) throws {
    let (bus, keyring) = try PrivateBus.with { try KeePassXC(on: $0) }
    let storage = bus.storage()
    let inKey = ItemKey(kind: .password, attributes: ["service": "service", name: "value"])
    let beside = SecureItem(
      key: StorageUse.key, secret: Secret("s3cret"), label: "label", attributes: [name: "value"])
    for item in [SecureItem(key: inKey, secret: Secret("s3cret"), label: "label"), beside] {
      do throws(SecureStorageError) {
        try storage.save(item, mode: .add)
      } catch {
        #expect(error.code == .invalidArgument, "\(error)")
        #expect(try storage.items(matching: .service("service")).isEmpty)
        continue
      }
      let found = try storage.item(for: item.key)
      #expect(found?.secret?.text == "s3cret" && found?.label == "label")
      #expect(found?.attributes == item.attributes ?? [:])
      #expect(try storage.items(matching: .service("service")).map(\.key) == [item.key])
      #expect(try storage.removeItems(matching: .service("service")) == 1)
    }
    try keyring.kill()
  }
}
#endif
