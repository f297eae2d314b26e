// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Items that other programs share with this package, with the attributes that each program adds.
@Suite(.inPrivateSession) struct SharedItemTests {
  /// An item as a program makes it, by its source or as it was observed.
  struct Shape: Sendable, CustomTestStringConvertible {
    let program: String
    /// The attributes that the program adds to the parts of the key.
    let extras: [String: String]
    /// The names by which the program searches, or `nil` for all that it writes.
    var searched: [String]? = ["service", "username"]
    var schema = ForeignProgram.Schema.none
    var shape = Parts.password

    enum Parts {
      case password, credential, server, repository, empty

      func key(_ name: String) -> ItemKey {
        switch self {
        case .password: .password(service: name, account: "me")
        case .credential: .credentials(service: name, label: "me")
        case .server:
          .internetPassword(server: InternetServer(name, protocol: .https), account: "me")
        case .repository:
          .internetPassword(
            server: InternetServer(name, port: 8443, path: "team/repo.git", protocol: .https),
            account: "me")
        case .empty:
          ItemKey(kind: .password, attributes: ["service": name, "username": ""])
        }
      }
    }

    var testDescription: String { program }

    func attributes(_ key: ItemKey) -> [String: String] {
      key.attributes.merging(extras) { $1 }
    }

    func search(_ key: ItemKey) -> [String: String] {
      let attributes = attributes(key)
      guard let searched else { return attributes }
      return attributes.filter { searched.contains($0.key) }
    }

    private static let python = ["application": "Python keyring library"]
    private static let rust = ["application": "rust-keyring"]
    private static let generic = ForeignProgram.Schema(name: "org.freedesktop.Secret.Generic")

    // The versions and the sources are in the comments of ItemKey+OtherPrograms.swift.
    static let all = [
      Shape(program: "python keyring 2.0 to 10.4", extras: ["application": "python-keyring"]),
      Shape(program: "python keyring 10.5 to 25.7", extras: python),
      Shape(
        program: "python keyring from 23.2, backend libsecret", extras: python, searched: nil,
        schema: generic),
      Shape(program: "keyring-rs 0.8 to 0.10", extras: rust),
      Shape(program: "keyring-rs 1", extras: rust, searched: nil),
      Shape(
        program: "keyring-rs 2 and 3", extras: rust.merging(["target": "default"]) { $1 },
        searched: nil),
      Shape(program: "keyring-rs 4", extras: [:]),
      Shape(program: "keyring-rs 4 with a target", extras: ["target": "default"], searched: nil),
      Shape(program: "go-keyring", extras: [:]),
      Shape(program: "gh, the active token", extras: [:], shape: .empty),
      Shape(program: "keytar's schema", extras: [:], schema: generic),
      Shape(
        program: "oo7's daemon",
        extras: Provider.current == .keepassxc ? [:] : ["xdg:content-type": "text/plain"]),
      Shape(
        program: "gnome-keyring, of a number", extras: ["gkr:compat:uint32:port": ""],
        searched: ["server"], shape: .server),
      Shape(
        program: "an earlier version of this package",
        extras: ["comment": "theirs", "expires": "2030-01-01T00:00:00Z"]),
      Shape(
        program: "a login", extras: ["username": "ada"], searched: ["service", "label"],
        shape: .credential),
      Shape(
        program: "git up to 2.46", extras: [:], searched: nil, schema: .network, shape: .server),
      Shape(
        program: "git from 2.47", extras: [:], searched: nil,
        schema: .init(name: "org.git.Password", matchesName: false), shape: .server),
      Shape(
        program: "git, of a repository", extras: [:], searched: nil, schema: .network,
        shape: .repository),
      Shape(program: "secret-tool", extras: [:], searched: nil, shape: .server),
    ]
  }

  let name = PrivateSession.newService()
  let storage = SecretServiceStorage()
  let theirs: ForeignProgram

  init() throws { theirs = try ForeignProgram.inSession.get() }

  @Test(arguments: Shape.all)
  func `an item that a key means is read, changed in place and removed`(shape: Shape) throws {
    let key = shape.shape.key(name)
    let attributes = shape.attributes(key)
    try theirs.store("theirs", attributes, shape.schema)
    var expected = try theirs.items(key.attributes)
    #expect(expected.count == 1)
    #expect(try storage.text(of: key) == "theirs")
    #expect(try storage.exists(key))
    let listed = try storage.items(matching: ItemQuery(attributes: key.attributes))
    #expect(listed.map(\.key.attributes) == [key.attributes])
    #expect(listed.map(\.isForeign) == [false])
    expectError(.itemAlreadyExists) { try storage.save("ours", key, .add) }

    try storage.save("ours", key)
    expected[0].secret = Data("ours".utf8)
    #expect(try theirs.items(key.attributes) == expected)
    #expect(try theirs.search(shape.search(key), shape.schema) == ["ours"])

    try theirs.store("theirs again", attributes, shape.schema)
    #expect(try theirs.items(key.attributes).map(\.text) == ["theirs again"])
    #expect(try storage.text(of: key) == "theirs again")
    #expect(try storage.remove(key))
    #expect(try theirs.lookup(shape.search(key), shape.schema) == nil)
    #expect(try theirs.items(key.attributes).isEmpty)
  }

  /// With another attribute, their item would be nobody's.
  @Test(arguments: Shape.all)
  func `an attribute that is set on an item of another program makes it ours`(shape: Shape) throws {
    let key = shape.shape.key(name)
    try theirs.store("theirs", label: "Their label", shape.attributes(key), shape.schema)
    let before = try theirs.items(key.attributes)
    try storage.save(SecureItem(key: key, attributes: ["color": "red"]), mode: .update)
    let after = try theirs.items(key.attributes)
    #expect(after.map(\.text) == ["theirs"] && after.map(\.label) == ["Their label"])
    #expect(after[0].attributes["color"] == "red")
    #expect(after[0].attributes["swift-keyring:key"] != nil)
    for (name, value) in before[0].attributes { #expect(after[0].attributes[name] == value) }
    #expect(try storage.item(for: key)?.attributes?["color"] == "red")
    #expect(try storage.items(matching: ItemQuery(attributes: key.attributes)).map(\.key) == [key])

    // The program still finds it, and what we store there.
    #expect(try theirs.lookup(shape.search(key), shape.schema) == "theirs")
    try storage.save("ours", key)
    #expect(try theirs.search(shape.search(key), shape.schema) == ["ours"])
    #expect(try theirs.items(key.attributes).count == 1)
    // Its own next item takes the place of this one, or is removed with it.
    try theirs.store("theirs again", shape.attributes(key), shape.schema)
    #expect(try storage.remove(key))
    #expect(try theirs.items(key.attributes).isEmpty)
  }

  /// Programs whose replacement doesn't match ours put such an item beside it.
  @Test(arguments: Shape.all)
  func `an item beside ours isn't read and goes with the next save and removal`(shape: Shape) throws
  {
    let key = shape.shape.key(name)
    for removes in [false, true] {
      let login = shape.shape == .credential ? shape.extras : nil
      try storage.save(
        SecureItem(key: key, secret: Secret("ours"), attributes: login), mode: .addOrReplace)
      var attributes = shape.attributes(key)
      attributes["xdg:schema"] = shape.schema.name
      try theirs.create("beside", attributes)
      #expect(try storage.text(of: key) == "ours")
      #expect(try storage.items(for: [key], details: .secret)[key]?.secret?.text == "ours")
      let listed = try storage.items(
        matching: ItemQuery(attributes: key.attributes, details: .secret))
      #expect(listed.map(\.secret?.text) == ["ours"])
      if !removes {
        try storage.save("ours again", key)
        #expect(try theirs.items(key.attributes).map(\.text) == ["ours again"])
      }
      #expect(try storage.remove(key))
      #expect(try theirs.items(key.attributes).isEmpty)
      #expect(try !storage.exists(key))
    }
  }
}
#endif
