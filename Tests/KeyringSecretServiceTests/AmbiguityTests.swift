// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Several items that the same key means.
@Suite(.inPrivateSession) struct AmbiguityTests {
  enum Shape: CaseIterable {
    case password
    case value
    case internetPassword

    func key(_ name: String) -> ItemKey {
      switch self {
      case .password: .password(service: name, account: "token")
      case .value: .value(service: name, account: "value")
      case .internetPassword:
        .internetPassword(server: InternetServer(name, protocol: .https), account: "ada")
      }
    }
  }

  let name = PrivateSession.newService()
  let storage = SecretServiceStorage()

  /// Stores two items of other programs, which differ in what says nothing about the item.
  private func storeTheirs(_ key: ItemKey) throws {
    let theirs = try ForeignProgram.inSession.get()
    let more =
      key.kind == .internetPassword
      ? ["xdg:schema": "org.git.Password"] : ["application": "Python keyring library"]
    try theirs.create("theirs", label: "Item 1", key.attributes)
    try theirs.create("theirs", label: "Item 2", key.attributes.merging(more) { $1 })
  }

  private func secrets(_ key: ItemKey) throws -> [String] {
    try ForeignProgram.inSession.get().items(key.attributes).map(\.text).sorted()
  }

  @Test(arguments: Shape.allCases)
  func `several items of other programs are ambiguous`(shape: Shape) throws {
    let key = shape.key(name)
    try storeTheirs(key)
    for operation in [
      { _ = try storage.password(for: key) }, { try storage.setPassword("", for: key) },
      { try storage.setPassword("", for: key, mode: .update) }, { try storage.remove(key) },
    ] as [() throws -> Void] {
      expectError(.ambiguous, says: "\"Item 1\"", "\"Item 2\"") { try operation() }
    }
    expectError(.itemAlreadyExists) { try storage.setPassword("", for: key, mode: .add) }
    #expect(try secrets(key) == ["theirs", "theirs"])
  }

  @Test(arguments: Shape.allCases)
  func `our own item wins over those of other programs`(shape: Shape) throws {
    let key = shape.key(name)
    try storage.setPassword("ours", for: key)
    try storeTheirs(key)
    #expect(try storage.password(for: key) == "ours")
    try storage.setPassword("ours again", for: key)
    #expect(try storage.password(for: key) == "ours again")
    // Another program would store a value of ours as a password, which it may also have for itself.
    let left = shape == .value ? ["theirs", "theirs"] : []
    #expect(try secrets(key) == ["ours again"] + left)
    if left.isEmpty { try storeTheirs(key) }
    #expect(try storage.remove(key))
    #expect(try secrets(key) == left)
  }

  /// git 2.39 and git 2.47 store such items.
  @Test func `an item with the schema of the key is the key's`() throws {
    let key = ItemKey.internetPassword(
      server: InternetServer(name, protocol: .https), account: "ada")
    let schemas = ["org.gnome.keyring.NetworkPassword", "org.git.Password"]
    for schema in schemas {
      try SecretTool.store(
        schema, label: schema, key.attributes.merging(["xdg:schema": schema]) { $1 })
    }
    let keys = schemas.map { key.with(schema: $0) }
    #expect(try keys.map { try storage.password(for: $0) } == schemas)
    for key in keys { try storage.setPassword("ours", for: key) }
    #expect(try secrets(key) == ["ours", "ours"])
    for key in keys { #expect(try storage.remove(key)) }
    #expect(try keys.map { try storage.exists($0) } == [false, false])
  }

  @Test func `items with other logins stay beside our credential, and are listed`() throws {
    let key = ItemKey.credentials(service: name, label: "account")
    try storage[key, as: .credential].write(Credential(login: "me", password: "ours"))
    for login in ["ada", "eve"] {
      try SecretTool.store(login, label: login, key.attributes.merging(["username": login]) { $1 })
    }
    try storage[key, as: .credential].write(Credential(login: "me", password: "ours again"))
    let listed = try storage.items(matching: .service(name, details: .secret))
    #expect(Set(listed.map(\.secret?.text)) == ["ours again", "ada", "eve"])
    #expect(try storage.remove(key))
    #expect(try secrets(key) == ["ada", "eve"])
    #expect(try storage.service(name).removeAll().count == 2)
  }

  @Test func `a query treats each item of other programs separately`() throws {
    let key = ItemKey.password(service: name, account: "token")
    try storeTheirs(key)
    let first = ItemQuery(label: "Item 1", details: .metadata)
    let second = ItemQuery(attributes: ["service": name], label: "Item 2", details: .metadata)
    #expect(try storage.items(matching: .service(name)).count == 2)
    #expect(try storage.items(matching: second).map(\.label) == ["Item 2"])
    #expect(try storage.removeItems(matching: second) == 1)
    #expect(
      try storage.items(matching: .service(name, details: .metadata)).map(\.label) == ["Item 1"])
    #expect(try storage.items(matching: first).contains { $0.key == key })
    #expect(try storage.service(name).removeAll().count == 1)
  }
}
#endif
