// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Keys with a schema, beside programs in C that store and find items by its name.
@Suite(.inPrivateSession) struct SchemaTests {
  /// A program's items, as its source has them.
  struct Shape: Sendable, CustomTestStringConvertible {
    let program: String
    /// The attributes, of which the first one is the test's.
    let names: [String]
    let schema: ForeignProgram.Schema
    var kind = ItemKind.password

    var testDescription: String { program }

    func attributes(_ name: String) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: names.enumerated().map { ($1, $0 == 0 ? name : "the \($1)") })
    }

    func key(_ name: String) -> ItemKey {
      ItemKey(kind: kind, attributes: attributes(name), schema: schema.name)
    }

    // The first four are apps in Swift with C code of their own.
    static let all = [
      Shape(program: "{key}", names: ["key"], schema: .init(name: "org.example.One")),
      Shape(program: "{account}", names: ["account"], schema: .init(name: "org.example.Two")),
      Shape(
        program: "{service, account}", names: ["service", "account"],
        schema: .init(name: "org.example.Three")),
      Shape(
        program: "{application, key}", names: ["key", "application"],
        schema: .init(name: "org.example.Four", matchesName: false)),
      Shape(
        program: "keytar", names: ["service", "account"],
        schema: .init(name: "org.freedesktop.Secret.Generic")),
      Shape(
        program: "qtkeychain", names: ["server", "user", "type"],
        schema: .init(name: "org.qt.keychain", matchesName: false)),
      Shape(
        program: "docker", names: ["server", "username", "label", "docker_cli"],
        schema: .init(name: "io.docker.Credentials")),
      Shape(
        program: "git-credential-manager", names: ["service", "account"],
        schema: .init(name: "com.microsoft.GitCredentialManager", matchesName: false)),
      Shape(
        program: "git up to 2.46", names: ["server", "user", "protocol"], schema: .network,
        kind: .internetPassword),
      Shape(
        program: "git from 2.47", names: ["server", "user", "protocol"],
        schema: .init(name: "org.git.Password", matchesName: false), kind: .internetPassword),
      Shape(
        program: "Chromium", names: ["application"],
        schema: .init(name: "chrome_libsecret_os_crypt_password_v2", matchesName: false)),
      Shape(
        program: "NetworkManager", names: ["connection-uuid", "setting-name", "setting-key"],
        schema: .init(name: "org.freedesktop.NetworkManager.Connection", matchesName: false)),
      Shape(program: "secret-tool", names: ["account"], schema: .none),
    ]
  }

  let name = PrivateSession.newService()
  let storage = SecretServiceStorage()
  let old: ForeignProgram

  init() throws { old = try ForeignProgram.inSession.get() }

  /// The steps of a release that is rolled back and released again.
  ///
  /// | step | the old version | this package |
  /// |---|---|---|
  /// | 1 | stores | reads, lists, and refuses to add |
  /// | 2 | finds the new secret in its own item | changes it in place |
  /// | 3 | stores over it: the same item | reads |
  /// | 4 | finds nothing | removes |
  /// | 5 | looks up, and searches for one | adds |
  /// | 6 | finds the newer secret | sets an attribute and a secret |
  /// | 7 | stores over ours: one item | reads |
  /// | 8 | clears | finds nothing |
  @Test(arguments: Shape.all) func `a release can be rolled back`(shape: Shape) throws {
    let (attributes, key) = (shape.attributes(name), shape.key(name))
    try old.store("1", label: "Old", attributes, shape.schema)
    var items = try old.items(attributes)
    #expect(try storage.text(of: key) == "1")
    let listed = try storage.items(matching: ItemQuery(attributes: attributes, details: .all))
    // Git's password is that of a property, which names no schema.
    #expect(listed.map(\.key) == [shape.isForeign ? key : key.with(schema: nil)])
    #expect(listed.map(\.isForeign) == [shape.isForeign])
    #expect(listed.first?.label == "Old" && listed.first?.attributes == [:])
    expectError(.itemAlreadyExists) { try storage.save("2", key, .add) }

    try storage.save("2", key)
    items[0].secret = Data("2".utf8)
    #expect(try old.items(attributes) == items)
    #expect(try old.lookup(attributes, shape.schema) == "2")

    try old.store("3", label: "Old", attributes, shape.schema)
    items[0].secret = Data("3".utf8)
    #expect(try old.items(attributes) == items)
    #expect(try storage.text(of: key) == "3")

    #expect(try storage.remove(key))
    #expect(try old.lookup(attributes, shape.schema) == nil)
    #expect(try old.items(attributes).isEmpty)

    try storage.save("5", key, .add)
    #expect(try old.lookup(attributes, shape.schema) == "5")
    #expect(try old.search(attributes, shape.schema) == ["5"])
    try storage.save(SecureItem(key: key, attributes: ["color": "red"]), mode: .update)
    try storage.save("6", key)
    #expect(try old.search(attributes, shape.schema) == ["6"])
    #expect(try old.items(attributes).map(\.text) == ["6"])

    try old.store("7", attributes, shape.schema)
    #expect(try old.items(attributes).map(\.text) == ["7"])
    #expect(try storage.text(of: key) == "7")
    try old.clear(attributes, shape.schema)
    #expect(try old.lookup(attributes, shape.schema) == nil)
    #expect(try storage.text(of: key) == nil)
    #expect(try old.items(attributes).isEmpty)
  }

  @Test(arguments: Shape.all.filter(\.hasOwnSchema))
  func `keys that differ in their schema have items of their own`(shape: Shape) throws {
    let attributes = shape.attributes(name)
    let keys = [shape.schema.name, nil, "org.example.Another"].map {
      ItemKey(kind: shape.kind, attributes: attributes, schema: $0)
    }
    try old.store("theirs", attributes, shape.schema)
    for key in keys.dropFirst() {
      #expect(try storage.text(of: key) == nil)
      #expect(try !storage.remove(key))
      try storage.save("\(key)", key, .add)
    }
    #expect(try storage.text(of: keys[0]) == "theirs")
    try storage.save("ours", keys[0])
    for key in keys.dropFirst() { #expect(try storage.text(of: key) == "\(key)") }
    let listed = try storage.items(matching: ItemQuery(attributes: attributes)).map(\.key)
    #expect(listed.count == keys.count && Set(listed) == Set(keys))
    if shape.schema.matchesName {
      // Only its own item is of its schema.
      #expect(try old.search(attributes, shape.schema) == ["ours"])
    }
    for key in keys { #expect(try storage.remove(key)) }
    #expect(try old.items(attributes).isEmpty)
  }

  /// Both items are the key's, and a list names this one by it.
  @Test func `an item of the schema comes before one without`() throws {
    let shape = Shape.all[0]
    let (attributes, key) = (shape.attributes(name), shape.key(name))
    try old.store("of the schema", attributes, shape.schema)
    let without = try old.create("without", attributes)
    #expect(try storage.text(of: key) == "of the schema")
    try storage.save("ours", key)
    #expect(try old.lookup(attributes, shape.schema) == "ours")
    #expect(try storage.text(of: ItemKey(kind: .password, attributes: attributes)) == "without")
    #expect(try storage.remove(key))
    #expect(try old.itemsByPath(attributes)[without]?.text == "without")
    try old.deleteAll(attributes)
  }
}

extension SchemaTests.Shape {
  /// Whether no property has such a key by itself.
  fileprivate var isForeign: Bool { kind != .internetPassword }

  /// Whether only a key with the schema means the item.
  fileprivate var hasOwnSchema: Bool { isForeign && key("").schema != nil }
}
#endif
