// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Testing

/// Properties for items that an earlier version of an app has stored under keys of its own.
@Suite struct ExistingItemTests {
  private static let storage = InMemoryStorage()
  private static let oldKey = ItemKey(
    kind: .password, attributes: ["account": "default"], schema: "org.example.Old")
  private static let newKey = ItemKey.password(service: "s", account: "token")

  private struct Named {
    @Password(key: oldKey, storage: storage) var token: String?
    @Password(key: oldKey, storage: storage) var secret: Secret?
    @Credentials(key: ItemKey(kind: .credentials, attributes: ["id": "1"]), storage: storage)
    var account: Credential?
    @SecureValue(key: ItemKey(kind: .value, attributes: ["id": "1"]), storage: storage)
    var numbers: [Int]?
    @Password(
      key: .internetPassword(server: InternetServer("host"), account: "me")
        .with(schema: "org.git.Password"), storage: storage)
    var git: String?
    @Password(
      key: .internetPassword(server: InternetServer("host"), account: "me")
        .with(schema: "org.git.Password"), storage: storage)
    var gitSecret: Secret?
  }

  @Test func `a property names any key`() throws {
    let settings = Named()
    settings.token = "token"
    #expect(settings.secret == Secret("token"))
    settings.git = "git"
    #expect(settings.gitSecret == Secret("git"))
    settings.account = Credential(login: "me", password: "password")
    settings.numbers = [1, 2]
    #expect(settings.account?.login == "me" && settings.numbers == [1, 2])
    #expect(try Self.storage.password(for: Self.oldKey) == "token")
    #expect(settings.$token.name == "default" && settings.$git.name == "me@host")
    let outcome = try SecureProperties(of: settings).removeAll()
    #expect(outcome.count == 4 && outcome.left.isEmpty)
    #expect(settings.$token.failure == nil)
  }

  // MARK: - An old key

  private struct Moving {
    let storage: any SecureStorage
    let token: Password<String?>
    let account: Credentials
    let value: SecureValue<[Int], [Int]?>

    init(_ storage: any SecureStorage) {
      self.storage = storage
      token = Password("token", service: "s", movingFrom: oldKey, storage: storage)
      account = Credentials(
        "account", service: "s", movingFrom: .credentials(service: "old", label: "account"),
        storage: storage)
      value = SecureValue(
        "value", service: "s", movingFrom: .value(service: "old", account: "value"),
        storage: storage)
    }
  }

  private typealias Property = StoredValue<String>

  /// Each first use of a property, and the value after it.
  private static let uses:
    [(name: String, after: String?, use: @Sendable (Property) throws -> Bool)] = [
      ("read", "old", { try $0.read() == "old" }),
      ("exists", "old", { try $0.exists() }),
      ("dates", "old", { try $0.dates() != nil }),
      ("origin", "old", { try $0.origin() == "InMemoryStorage" }),
      ("readOrStore", "old", { try $0.readOrStore { "new" } == "old" }),
      ("write", "new", { try $0.write("new") == () }),
      ("write nil", nil, { try $0.write(nil) == () }),
      ("remove", nil, { try $0.remove() }),
    ]

  private static let asynchronousUses:
    [(name: String, after: String?, use: @Sendable (Property) async throws -> Bool)] = [
      ("read", "old", { try await $0.read() == "old" }),
      ("readOrStore", "old", { try await $0.readOrStore { "new" } == "old" }),
      ("write", "new", { try await $0.write("new") == () }),
    ]

  @Test(arguments: uses.indices)
  func `the first use moves the item with the old key`(index: Int) throws {
    let (name, after, use) = Self.uses[index]
    let storage = try storeOld()
    #expect(try use(Moving(storage).token.projectedValue))
    try expect(after, in: storage, after: name)
  }

  @Test(arguments: asynchronousUses.indices)
  func `the first await moves the item with the old key`(index: Int) async throws {
    let (name, after, use) = Self.asynchronousUses[index]
    let storage = try storeOld()
    #expect(try await use(Moving(storage).token.projectedValue))
    try expect(after, in: storage, after: name)
  }

  private func storeOld() throws -> InMemoryStorage {
    let storage = InMemoryStorage()
    let item = SecureItem(
      key: Self.oldKey, secret: Secret("old"), label: "A label",
      attributes: ["comment": "kept", "username": "dropped"])
    try storage.save(item, mode: .add)
    return storage
  }

  private func expect(_ value: String?, in storage: InMemoryStorage, after use: String) throws {
    let comment = Comment(rawValue: use)
    #expect(try storage.password(for: Self.newKey) == value, comment)
    #expect(try !storage.exists(Self.oldKey), comment)
    if let moved = try storage.item(for: Self.newKey, details: .metadata) {
      #expect(moved.label == "A label" && moved.attributes == ["comment": "kept"], comment)
    }
    // If both are there, that of the property stays, and nothing comes back after it's removed.
    try storage.setPassword("stored again by the old version", for: Self.oldKey)
    try storage.setPassword("newer", for: Self.newKey)
    let property = Moving(storage).token.projectedValue
    #expect(try property.read() == "newer")
    #expect(try property.remove())
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `all properties of a value are moved together`() throws {
    let storage = InMemoryStorage()
    func fill() throws {
      try storage.setPassword("old", for: Self.oldKey)
      try storage[.credentials(service: "old", label: "account"), as: .credential].write(
        Credential(login: "me", password: "old"))
      try storage[.value(service: "old", account: "value"), as: .value()].write([1])
    }
    try fill()
    let settings = Moving(storage)
    let properties = try SecureProperties(of: settings)
    let values = try properties.readAll()
    #expect(try values[settings.token] == "old")
    #expect(try values[settings.account]?.login == "me")
    #expect(try values[settings.value] == [1])
    #expect(try storage.items(matching: .service("old")).isEmpty)

    #expect(try properties.removeAll().count == 3)
    try fill()
    let copy = InMemoryStorage()
    #expect(try properties.copy(to: copy) == 3)
    #expect(try copy.items(matching: .service("s")).count == 3)
    try fill()
    #expect(try properties.removeAll().count == 3)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `of two items, the one that was changed last stays`() throws {
    let storage = InMemoryStorage()
    let property = Moving(storage).token.projectedValue
    for (first, last) in [(Self.oldKey, Self.newKey), (Self.newKey, Self.oldKey)] {
      try storage.setPassword("older", for: first)
      try storage.setPassword("newer", for: last)
      #expect(try property.exists())
      #expect(try storage.items(matching: ItemQuery()).map(\.key) == [Self.newKey])
      #expect(try property.read() == "newer")
      #expect(try property.remove())
    }
  }

  @Test func `an old key that is the property's own changes nothing`() throws {
    let storage = InMemoryStorage()
    try storage.setPassword("s3cret", for: Self.newKey)
    let property = Password("token", service: "s", movingFrom: Self.newKey, storage: storage)
      .projectedValue
    #expect(try property.exists() && property.dates() != nil)
    #expect(try property.read() == "s3cret")
  }

  @Test func `an item of a layer that can't be written is copied`() throws {
    let (old, new) = (InMemoryStorage(), InMemoryStorage())
    try old.setPassword("old", for: Self.oldKey)
    let property = Moving(LayeredStorage([.reading(old), .writing(new)])).token.projectedValue
    #expect(try property.read() == "old" && property.exists())
    try property.write("new")
    #expect(try property.read() == "new")
    #expect(try old.password(for: Self.oldKey) == "old")
  }

  @Test func `the account of a password becomes the login of a credential`() throws {
    let storage = InMemoryStorage()
    let old = ItemKey.password(service: "old", account: "me")
    try storage.setPassword("s3cret", for: old)
    let account = Credentials("account", service: "s", movingFrom: old, storage: storage)
    #expect(account.wrappedValue == Credential(login: "me", password: "s3cret"))
    #expect(try !storage.exists(old))
  }

  /// The step of a storage that fails, and whether the old item is there afterwards.
  @Test(arguments: [SecureStorageError.Operation.save, .remove])
  func `a move that fails leaves one of the items`(operation: SecureStorageError.Operation) throws {
    let base = InMemoryStorage()
    try base.setPassword("old", for: Self.oldKey)
    let storage = FaultyStorage(base)
    storage.fail(operation, with: .locked)
    let property = Moving(storage).token.projectedValue
    #expect(throws: SecureStorageError.self) { try property.read() }
    #expect(try base.exists(Self.oldKey))
    storage.reset()
    #expect(try property.read() == "old")
    // After a failed removal, both are there until the property changes.
    #expect(try base.exists(Self.newKey))
    #expect(try property.remove())
    #expect(try base.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `what a sign-out leaves is named`() throws {
    let storage = InMemoryStorage()
    let forgotten = ItemKey.password(service: "s", account: "of an older version")
    try storage.setPassword("left", for: forgotten)
    try storage.setPassword("token", for: Self.newKey)
    try storage.setPassword("other", for: .password(service: "another", account: "token"))
    let outcome = try SecureProperties(of: Moving(storage)).removeAll()
    #expect(outcome == BulkOutcome(count: 1, left: [forgotten]))
  }
}
