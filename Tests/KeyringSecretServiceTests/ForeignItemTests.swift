// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringMigration
import KeyringStorage
import Testing

/// Items of other programs that have all parts of a key, and more.
@Suite(.inPrivateSession) struct ForeignItemTests {
  /// A key, and what an item of another program has besides its parts.
  struct Case: Sendable, CustomTestStringConvertible {
    enum Shape: CaseIterable {
      case password, value, credential, server, custom, schema

      func key(_ name: String) -> ItemKey {
        switch self {
        case .password: .password(service: name, account: "me")
        case .value: .value(service: name, account: "me")
        case .credential: .credentials(service: name, label: "me")
        case .server: .internetPassword(server: InternetServer(name), account: "me")
        case .custom: ItemKey(kind: ItemKind(rawValue: "token"), attributes: ["account": name])
        case .schema:
          ItemKey(kind: .password, attributes: ["account": name], schema: "org.example.Key")
        }
      }

      var others: [[String: String]] {
        let others = [
          ["folder": "inbox"], ["folder": "inbox", "xdg:schema": "org.example.Mail"],
          ["xdg:schema": "org.example.Mail"], ["application": "another program"],
          [
            "docker_cli": "1", "label": "Docker Credentials", "xdg:schema": "io.docker.Credentials",
          ],
          ["type": "plaintext", "xdg:schema": "org.qt.keychain"],
        ]
        // A login makes these another program's passwords, and without one they're what they say.
        let pythons = ["application": "Python keyring library"]
        return switch self {
        case .password, .value:
          others + [
            ["xdg:schema": "org.gnome.keyring.NetworkPassword"], ["target": "work"],
            ["application": "rust-keyring", "target": "work"],
            pythons.merging(["folder": "inbox"]) { $1 },
          ]
        case .credential:
          others.filter { $0["label"] == nil }
            + [pythons, ["username": "me", "folder": "inbox"], ["target": "default"]]
        case .server: others + [["object": "team"], ["port": "8443"], ["username": "me"], pythons]
        case .custom, .schema: others + [pythons, ["username": "me"], ["target": "default"]]
        }
      }
    }

    let shape: Shape
    let others: [String: String]

    var testDescription: String { "\(shape) \(others.sorted { $0.key < $1.key })" }

    func attributes(_ key: ItemKey) -> [String: String] {
      key.attributes.merging(others) { $1 }
    }

    static let all = Shape.allCases.flatMap { shape in
      shape.others.map { Case(shape: shape, others: $0) }
    }
    /// One of each shape.
    static let few = Shape.allCases.map { Case(shape: $0, others: $0.others[1]) }
  }

  let name = PrivateSession.newService()
  let storage = SecretServiceStorage()
  let theirs: ForeignProgram

  init() throws { theirs = try ForeignProgram.inSession.get() }

  /// Expects that a key means no item, uses it for one of ours, and removes that.
  @Test(.tags(.slow), arguments: Case.all) func `an item that says more is another item`(
    `case`: Case
  ) throws {
    let key = `case`.shape.key(name)
    let attributes = `case`.attributes(key)
    let path = try theirs.create("theirs", attributes)
    let before = try theirs.itemsByPath(key.attributes)
    #expect(before.count == 1)

    #expect(try storage.item(for: key) == nil)
    #expect(try !storage.exists(key))
    #expect(try storage.items(for: [key], details: .all).isEmpty)
    #expect(try storage.items(matching: .key(key)).isEmpty)
    #expect(try !storage.remove(key))
    expectError(.itemNotFound) { try storage.save("ours", key, .update) }
    #expect(try storage[key, as: .secret].readOrStore { Secret("made") } == Secret("made"))
    #expect(try theirs.itemsByPath(attributes) == before)

    // Ours stands beside it from now on.
    #expect(try storage.text(of: key) == "made")
    expectError(.itemAlreadyExists) { try storage.save("again", key, .add) }
    try storage.save(
      SecureItem(key: key, secret: Secret("ours"), label: "Ours", attributes: ["color": "red"]),
      mode: .update)
    #expect(try storage.text(of: key) == "ours")
    #expect(try theirs.itemsByPath(attributes) == before)
    #expect(try storage.remove(key))
    #expect(try !storage.exists(key))
    try storage.save("added", key, .add)
    #expect(try storage.removeItems(matching: .key(key)) == 1)
    #expect(try theirs.itemsByPath(key.attributes) == before)
    try theirs.delete(path)
  }

  @Test(arguments: Case.few)
  func `an observer of a key hears of no other item`(`case`: Case) throws {
    let key = `case`.shape.key(name)
    let log = try EventLog(of: storage, .key(key))
    let path = try theirs.create("theirs", `case`.attributes(key))
    try theirs.setSecret("theirs again", of: path)
    try storage.save("ours", key)
    log.wait(for: .changed(.created(key)))
    try theirs.delete(path)
    #expect(try storage.remove(key))
    log.wait(for: .changed(.removed(key)))
    #expect(Set(log.changes).subtracting([.replaced(key)]) == [.created(key), .removed(key)])
    #expect(log.changes.first == .created(key))
  }

  /// Properties, the view of a service, a migration and the key of a file go by the same keys.
  @Test func `every way to use a key leaves another item alone`() throws {
    let attributes = ["service": name, "username": "me", "folder": "inbox"]
    let path = try theirs.create("theirs", attributes)
    let before = try theirs.itemsByPath(attributes)
    let property = Password<String?>("me", service: name, storage: storage).projectedValue
    #expect(try property.read() == nil)
    #expect(try !property.exists())
    #expect(try !property.remove())
    #expect(try storage.service(name).password("me").read() == nil)
    #expect(try storage.service(name).value("me", as: String.self).read() == nil)
    let key = ItemKey.password(service: name, account: "me")
    let memory = InMemoryStorage()
    #expect(throws: Never.self) {
      try Migration(of: [key], from: storage, to: memory).move()
      try Migration(of: .service(name), from: storage, to: memory).move()
    }
    #expect(try memory.items(matching: .service(name)).isEmpty)
    #if EncryptedFile
    let directory = TemporaryDirectory()
    let file = EncryptedFileStorage(
      at: directory.path("file"), key: .storage(storage, key: .value(service: name, account: "me")))
    try file.setPassword("s3cret", for: key)
    #expect(try file.password(for: key) == "s3cret")
    #endif
    try property.write("ours")
    #expect(try property.read() == "ours")
    try storage.service(name).removeAll()
    #expect(try property.read() == nil)
    #expect(try theirs.itemsByPath(["service": name]) == before)
    try theirs.delete(path)
  }

  // MARK: A third item

  /// Keys with fewer parts than the item that they share with another program, with the same, and with more.
  static let keys: [@Sendable (String) -> ItemKey] = [
    { ItemKey(kind: ItemKind(rawValue: "token"), attributes: ["service": $0]) },
    { .password(service: $0, account: "me") }, { .value(service: $0, account: "me") },
    { .credentials(service: $0, label: "me") },
    { .password(service: $0, account: "me", accessGroup: "group") },
    {
      ItemKey(
        kind: .password, attributes: ["service": $0, "username": "me"], schema: "org.example.Key")
    },
  ]

  @Test(.tags(.slow), arguments: keys.indices, [false, true])
  func `a change under a key replaces no third item`(index: Int, isShared: Bool) throws {
    let key = Self.keys[index](name)
    // More than a search examines one by one is a case of its own.
    for (number, others) in [
      [:], ["username": "me"], ["label": "me"], ["username": "me", "access-group": "group"],
      ["username": "me", "folder": "inbox"],
      ["username": "me", "label": "me", "access-group": "group", "folder": "inbox"],
    ].enumerated() {
      for schema in ["org.example.Mail", "org.example.Mail.Other"] {
        try theirs.create(
          "\(number)", others.merging(["service": name, "xdg:schema": schema]) { $1 })
      }
    }
    try theirs.create("target", ["service": name, "username": "me", "target": "work"])
    let before = try theirs.itemsByPath(["service": name])
    #expect(before.count == 13)
    func others() throws -> [String: ForeignProgram.Item] {
      try theirs.itemsByPath(["service": name]).filter { before[$0.key] != nil }
    }

    if isShared {
      try theirs.create(
        "shared",
        key.attributes.merging(
          key.schema.map { ["xdg:schema": $0] } ?? [:]
        ) { $1 })
    }
    for change in [
      SecureItem(key: key, secret: Secret("1")), SecureItem(key: key, secret: Secret("2")),
      SecureItem(key: key, label: "label"),
      SecureItem(key: key, secret: Secret("3"), label: "another"),
      SecureItem(key: key, attributes: ["comment": "more"]),
      SecureItem(key: key, secret: Secret("4"), attributes: ["color": "red"]),
      SecureItem(key: key, secret: Secret("")), SecureItem(key: key, secret: Secret("5")),
    ] {
      try storage.save(change, mode: .addOrReplace)
      if let secret = change.secret { #expect(try storage.text(of: key) == secret.text) }
      #expect(try others() == before)
    }
    #expect(try storage.remove(key))
    #expect(try theirs.itemsByPath(["service": name]) == before)
    try theirs.deleteAll(["service": name])
  }

  /// A search with many results is replaced by one for our own items.
  @Test func `a removed password stays removed among many items`() throws {
    let key = ItemKey.password(service: name, account: "me")
    try storage.save("ours", key)
    try theirs.create("beside", key.attributes.merging(["application": "python-keyring"]) { $1 })
    for number in 0..<20 {
      try theirs.create("\(number)", key.attributes.merging(["folder": "\(number)"]) { $1 })
    }
    #expect(try storage.text(of: key) == "ours")
    #expect(try storage.remove(key))
    #expect(try storage.text(of: key) == nil)
    #expect(try theirs.items(key.attributes).count { $0.text != "beside" } == 20)
    try theirs.deleteAll(key.attributes)
  }
}
#endif
