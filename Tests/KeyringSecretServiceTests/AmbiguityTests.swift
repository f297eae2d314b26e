// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Several items that have all parts of the same key.
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

  /// Stores two items of other programs, which differ in an attribute that isn't part of the key.
  private func storeTheirs(_ key: ItemKey) throws {
    for number in 1...2 {
      try SecretTool.store(
        "theirs", label: "Item \(number)", key.attributes.merging(["number": "\(number)"]) { $1 })
    }
  }

  private func secrets(_ key: ItemKey) throws -> [String] {
    try PythonSecretStorage.items(key.attributes).map(\.text).sorted()
  }

  @Test(arguments: Shape.allCases)
  func `several items of other programs are ambiguous`(shape: Shape) throws {
    let key = shape.key(name)
    try storeTheirs(key)
    for operation in [
      { _ = try storage.password(for: key) }, { try storage.setPassword("", for: key) },
      { try storage.setPassword("", for: key, mode: .update) }, { try storage.remove(key) },
    ] as [() throws -> Void] {
      let error = #expect(throws: SecureStorageError.self) { try operation() }
      #expect(error?.code == .ambiguous)
      #expect(error?.message.contains("\"Item 1\"") == true)
      #expect(error?.message.contains("\"Item 2\"") == true)
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
    #expect(try secrets(key) == ["ours again", "theirs", "theirs"])
    #expect(try storage.remove(key))
    #expect(try secrets(key) == ["theirs", "theirs"])
  }

  @Test func `a listing contains the item that a read finds`() throws {
    let key = ItemKey.password(service: name, account: "token")
    try storage.setPassword("ours", for: key)
    // This item is the later one, and so the newer of the two. python's keyring makes such items.
    try PythonKeyring().set("theirs", service: name, username: "token")
    #expect(try secrets(key) == ["ours", "theirs"])
    let items = try storage.items(matching: .service(name, details: .secret))
    #expect(items.map(\.key) == [key])
    #expect(items.map(\.secret?.text) == ["ours"])
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
    #expect(try storage.service(name).removeAll() == 1)
  }
}
#endif
